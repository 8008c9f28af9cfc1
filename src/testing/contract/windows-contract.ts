import assert from 'node:assert/strict'
import { agentSessionId, conversationId, handoffId, turnId } from '../../domain/kernel/ids.ts'
import type { Turn } from '../../domain/turn/turn.ts'
import { unwrap } from '../../domain/unwrap.ts'
import type { ContractPart } from '../store-contract.ts'

const only = (turns: readonly Turn[]): Turn => {
  assert.equal(turns.length, 1)
  return turns[0] as Turn
}

export const windowsContract: ContractPart = {
  about: 'lineages and windows',
  cases: {
    'finds one lineage by conversation, session or handoff': async (scene) => {
      const root = await scene.worked('read_file')
      const request = { reason: 'A side question', targetAgent: scene.name('helper') }
      const child = unwrap(await scene.service.openThread({ ...root, ...request }))
      const { history } = scene
      const whole = await history.lineage(root.session.conversationId)
      assert.equal(whole?.threads.length, 1)
      assert.deepEqual(await history.lineageOf({ sessionId: root.session.id }), whole)
      assert.deepEqual(await history.lineageOf({ handoffId: child.handoff.id }), whole)
      const below = await history.lineageOf({ sessionId: child.session.id })
      assert.deepEqual(below, await history.lineage(child.conversation.id))
      assert.deepEqual(below?.openedBy, child.handoff)
      assert.equal(await history.lineageOf({ sessionId: agentSessionId(scene.ids.next()) }), undefined)
      assert.equal(await history.lineageOf({ handoffId: handoffId(scene.ids.next()) }), undefined)
      assert.equal(await history.lineageOf({ conversationId: conversationId(scene.ids.next()) }), undefined)
    },
    'counts the messages and tool calls up to a turn, and none after it': async (scene) => {
      const started = unwrap(
        await scene.service.startSession({
          conversationId: (await scene.conversation()).id,
          agentName: scene.name('claude-code'),
          backend: 'scripted',
          prompt: 'Begin',
        }),
      )
      const first = await scene.work(started, 'read_file', 'run_tests')
      const messages = [{ role: 'tool' as const, text: '12 passed' }]
      const second = { ...first, ...unwrap(await scene.service.recordTurn({ ...first, messages })) }
      await scene.work(second, 'search')
      const [one, two] = [only(first.turns), only(second.turns)]
      assert.deepEqual(await scene.history.windowAt(one.id), {
        conversationId: one.conversationId,
        sessionId: one.sessionId,
        turnId: one.id,
        turnNumber: 1,
        recordedAt: one.recordedAt,
        usage: one.usage,
        messages: { user: 2, assistant: 1, tool: 0, system: 0 },
        range: { start: 1, end: 3 },
        visibleToolCalls: one.toolCalls,
      })
      const later = await scene.history.windowAt(two.id)
      assert.deepEqual(later?.messages, { user: 2, assistant: 1, tool: 1, system: 0 })
      assert.deepEqual(later?.range, { start: 1, end: 4 })
      assert.deepEqual(later?.usage, { state: 'unknown' })
      assert.deepEqual(later?.visibleToolCalls, one.toolCalls)
    },
    'agrees with the figures the session keeps': async (scene) => {
      const worked = await scene.worked('read_file')
      const { session, turns } = unwrap(await scene.service.recordTurn({ ...worked, ...scene.turn('search') }))
      const { messages, range, usage } = (await scene.history.windowAt(only(turns).id)) ?? {}
      assert.deepEqual({ messages, range, usage }, session.progress.window)
    },
    'counts only the session’s own messages': async (scene) => {
      const first = await scene.worked('read_file')
      const { conversationId } = first.session
      unwrap(await scene.service.pauseSession(first))
      const request = { conversationId, agentName: scene.name('other'), backend: 'scripted' }
      const other = unwrap(await scene.service.startSession(request))
      const between = unwrap(await scene.service.recordTurn({ ...other, ...scene.turn('search') }))
      unwrap(await scene.service.completeSession(between))
      const resumed = unwrap(await scene.service.resumeSession(first))
      const turn = { ...resumed, holder: first.holder, ...scene.turn('run_tests') }
      const last = unwrap(await scene.service.recordTurn(turn))
      const window = await scene.history.windowAt(only(last.turns).id)
      assert.deepEqual(window?.messages, { user: 2, assistant: 2, tool: 0, system: 0 })
      assert.deepEqual(window?.range, { start: 1, end: 6 })
      assert.deepEqual(
        window?.visibleToolCalls.map(({ toolName }) => toolName),
        ['read_file', 'run_tests'],
      )
      const theirs = await scene.history.windowAt(only(between.turns).id)
      assert.deepEqual(theirs?.range, { start: 3, end: 4 })
      assert.deepEqual(theirs?.messages, { user: 1, assistant: 1, tool: 0, system: 0 })
    },
    'answers undefined for a turn that is not there': async (scene) => {
      assert.equal(await scene.history.windowAt(turnId(scene.ids.next())), undefined)
    },
  },
}
