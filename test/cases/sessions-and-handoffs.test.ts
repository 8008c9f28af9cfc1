import { beforeEach, describe, expect, it } from 'vitest'
import { HANDOFF_STATUSES, type HandoffMetadata } from '../../src/domain/handoff/handoff.ts'
import type { HandoffCompleted } from '../../src/domain/handoff/settle-handoff.ts'
import { agentSessionId, commandId, handoffId } from '../../src/domain/kernel/ids.ts'
import { rangeContains, rangeLength, sequenceRange } from '../../src/domain/kernel/sequence.ts'
import { SESSION_STATES } from '../../src/domain/session/agent-session.ts'
import { totalMessages } from '../../src/domain/turn/message-summary.ts'
import type { TurnInput } from '../../src/domain/turn/turn.ts'
import { unwrap } from '../../src/domain/unwrap.ts'
import type { Store } from '../../src/ports/store/store.ts'
import type { HandoffService } from '../../src/services/handoff-service.ts'
import { refusal } from '../../src/testing/expected-refusal.ts'
import { Scene, type Worked } from '../../src/testing/scene.ts'
import { openStore, RULE_STORES } from '../support/stores.ts'
import { ReadBack } from './read-back.ts'

const BRIEF = { claimMs: 40 }
const LONG_ENOUGH = 80

describe.each(RULE_STORES)('sessions, handoffs and snapshots on %s', (kind) => {
  let scene: Scene
  let service: HandoffService
  let store: Store
  let kept: ReadBack
  beforeEach(async () => {
    scene = new Scene(await openStore(kind))
    service = scene.service
    store = scene.store
    kept = new ReadBack(store)
  })

  const codeOf = (result: Parameters<typeof refusal>[0]): string => refusal(result).code
  const reason = 'The window is nearly full'
  const transfer = (over: object = {}) => ({ targetAgent: scene.name('opus'), reason, ...over })

  /** A handoff carried all the way, with the session it came from. */
  const handedOff = async (): Promise<HandoffCompleted & { readonly source: Worked }> => {
    const { handoff, source } = await scene.initiated()
    return { ...unwrap(await service.completeHandoff({ handoff })), source }
  }

  /** Runs something that must leave a conversation exactly as it was. */
  const unchanged = async (of: Parameters<ReadBack['everything']>[0], run: () => Promise<void>): Promise<void> => {
    const before = await kept.everything(of)
    await run()
    expect(await kept.everything(of)).toStrictEqual(before)
  }

  it('a new session is active and has nothing of an end', async () => {
    const { session } = await scene.session()
    const stored = await kept.session(session.id)
    expect(stored).toStrictEqual(session)
    expect(stored).toMatchObject({ state: 'active', epoch: 1, startSequence: 1 })
    for (const key of ['endSequence', 'endedAt', 'initiatedByHandoff', 'terminatedByHandoff', 'heldBy']) {
      expect(Object.keys(stored)).not.toContain(key)
    }
    expect((await store.sessions.findActive(session.conversationId))?.id).toBe(session.id)
  })

  it('a session made by a handoff says so and starts after the end of the source', async () => {
    const { handoff, session, source } = await handedOff()
    const ended = await kept.session(source.session.id)
    const target = await kept.session(session.id)
    expect(target.initiatedByHandoff).toBe(handoff.id)
    expect(ended).toMatchObject({ state: 'handed_off', endSequence: 2 })
    expect(target.startSequence).toBe(3)
  })

  it('ranges have a length, contain their ends and cannot be reversed', async () => {
    expect([rangeLength(sequenceRange(5, 10)), rangeLength(sequenceRange(1, 1))]).toEqual([6, 1])
    expect(() => sequenceRange(10, 5)).toThrow(RangeError)
    expect([4, 5, 7, 10, 11].filter((at) => rangeContains(sequenceRange(5, 10), at))).toEqual([5, 7, 10])
    const { turns } = await scene.worked()
    expect(rangeLength((await store.messages.findTurn(turns[0]?.id ?? ('' as never)))?.range as never)).toBe(2)
  })

  it('a summary of 3 user, 2 assistant, 1 tool, 0 system totals 6; an empty one 0', async () => {
    const working = await scene.session()
    const empty = unwrap(await service.captureSnapshot(working)).snapshot
    expect(totalMessages(empty.messages)).toBe(0)
    expect(empty).not.toHaveProperty('range')
    const roles = ['user', 'assistant', 'tool', 'user', 'assistant', 'user'] as const
    unwrap(await service.recordTurn({ ...working, messages: roles.map((role) => ({ role, text: 'x' })) }))
    unwrap(await service.captureSnapshot({ session: working.session.id }))
    const stored = await store.snapshots.findLatest(working.session.id)
    expect(stored?.messages).toStrictEqual({ user: 3, assistant: 2, tool: 1, system: 0 })
    expect(totalMessages(stored?.messages ?? empty.messages)).toBe(6)
    expect(stored?.range).toStrictEqual({ start: 1, end: 6 })
  })

  it('five user and five assistant messages give a snapshot that says five and five', async () => {
    const working = await scene.session()
    unwrap(await service.recordTurns({ ...working, turns: Array.from({ length: 5 }, () => scene.turn()) }))
    const { snapshot } = unwrap(await service.captureSnapshot({ session: working.session.id }))
    const stored = await store.snapshots.find(snapshot.id)
    expect(stored).toStrictEqual(snapshot)
    expect(stored?.messages).toStrictEqual({ user: 5, assistant: 5, tool: 0, system: 0 })
    expect(stored?.type).toBe('on_demand')
  })

  it('two tool-call references are kept in order with all they say', async () => {
    const { handoff, source } = await scene.initiated()
    const [, answer] = await kept.messages(source.session.conversationId)
    const place = { messageId: answer?.id, sequenceNumber: 2 }
    const expected = [
      { callId: source.turns[0]?.toolCalls[0]?.callId, toolName: 'read_file', ...place },
      { callId: source.turns[0]?.toolCalls[1]?.callId, toolName: 'run_tests', ...place },
    ]
    expect((await kept.handoff(handoff.id)).triggeringToolCalls).toStrictEqual(expected)
    const [captured] = (await kept.snapshots(source.session.id)).slice(-1)
    expect(captured?.visibleToolCalls).toStrictEqual(expected)
  })

  it('states and statuses read back in snake_case', async () => {
    const { source, handoff } = await handedOff()
    expect(JSON.parse(JSON.stringify(await kept.session(source.session.id)))).toHaveProperty('state', 'handed_off')
    expect(JSON.parse(JSON.stringify(await kept.handoff(handoff.id)))).toHaveProperty('kind', 'agent_transfer')
    for (const word of [...SESSION_STATES, ...HANDOFF_STATUSES]) expect(word).toMatch(/^[a-z]+(_[a-z]+)*$/)
  })

  it('initiating on an unknown session is refused as not found', async () => {
    const unknown = agentSessionId(scene.ids.next())
    const error = refusal(await service.initiateHandoff({ session: unknown, byHand: true, ...transfer() }))
    expect(error).toStrictEqual({ code: 'session.not_found', sessionId: unknown })
  })

  it('initiating on a paused, handed-off, completed or failed session names the state', async () => {
    const working = { paused: await scene.worked(), completed: await scene.worked(), failed: await scene.worked() }
    unwrap(await service.pauseSession(working.paused))
    unwrap(await service.completeSession(working.completed))
    unwrap(await service.failSession({ ...working.failed, reason: 'It gave up' }))
    const ids = {
      paused: working.paused.session,
      completed: working.completed.session,
      failed: working.failed.session,
      handed_off: (await handedOff()).source.session,
    }
    for (const [state, session] of Object.entries(ids)) {
      await unchanged(session.conversationId, async () => {
        const error = refusal(await service.initiateHandoff({ session, byHand: true, ...transfer() }))
        expect(error).toStrictEqual({ code: 'session.not_active', sessionId: session.id, state })
      })
    }
  })

  it.each(['', '   ', '\t\n'])('the target agent %j is refused', async (targetAgent) => {
    const { session } = await scene.worked()
    await unchanged(session.conversationId, async () => {
      const refused = [
        await service.initiateHandoff({ session, byHand: true, ...transfer({ targetAgent }) }),
        await service.openThread({ session, byHand: true, ...transfer({ targetAgent }) }),
      ]
      const fields = [{ field: 'targetAgent', problem: 'it is blank' }]
      for (const result of refused) expect(refusal(result)).toEqual({ code: 'input.invalid', fields })
    })
  })

  it('the same agent, however padded, is refused for a transfer and fine otherwise', async () => {
    const coder = scene.name('coder')
    const { session, holder } = await scene.session(`  ${coder}  `)
    const worked = unwrap(await service.recordTurn({ session, holder, ...scene.turn() }))
    const padded = transfer({ targetAgent: ` ${coder}\t` })
    const same = await service.initiateHandoff({ ...worked, ...padded, kind: 'agent_transfer' })
    expect(refusal(same)).toStrictEqual({ code: 'handoff.same_agent', agent: coder })
    const thread = unwrap(await service.openThread({ ...worked, ...padded }))
    expect(await kept.handoff(thread.handoff.id)).toMatchObject({
      kind: 'thread',
      sourceAgent: coder,
      targetAgent: coder,
    })
    const restart = unwrap(await service.initiateHandoff({ ...worked, ...padded, kind: 'context_restart' }))
    expect(await kept.handoff(restart.handoff.id)).toMatchObject({ kind: 'context_restart', targetAgent: coder })
  })

  it('a thread is not initiated but opened, so that no thread is ever left open', async () => {
    const { session } = await scene.worked()
    await unchanged(session.conversationId, async () => {
      const asked = { session, byHand: true as const, ...transfer(), kind: 'thread' as 'context_restart' }
      expect(codeOf(await service.initiateHandoff(asked))).toBe('input.invalid')
    })
  })

  it('a paused session and the same agent at once give one refusal with both reasons', async () => {
    const { session } = await scene.worked()
    unwrap(await service.pauseSession({ session, byHand: true }))
    const error = refusal(
      await service.initiateHandoff({ session, byHand: true, ...transfer({ targetAgent: session.agentName }) }),
    )
    expect(error).toStrictEqual({
      code: 'several',
      reasons: [
        { code: 'session.not_active', sessionId: session.id, state: 'paused' },
        { code: 'handoff.same_agent', agent: session.agentName },
      ],
    })
  })

  it('initiating without any turn is refused', async () => {
    const { session } = await scene.session()
    await unchanged(session.conversationId, async () => {
      const error = refusal(await service.initiateHandoff({ session, byHand: true, ...transfer() }))
      expect(error).toStrictEqual({ code: 'session.no_turns', sessionId: session.id })
    })
  })

  it('a session without a turn cannot be handed off with the turn of its predecessor either', async () => {
    const { session, source } = await handedOff()
    await unchanged(session.conversationId, async () => {
      const priorTurn = source.turns[0]?.id as never
      const asked = { session, byHand: true as const, ...transfer({ targetAgent: scene.name('sonnet'), priorTurn }) }
      expect(codeOf(await service.initiateHandoff(asked))).toBe('session.no_turns')
    })
  })

  it('a prior turn or tool call of another conversation, or of none, is refused', async () => {
    const { session } = await scene.worked('read_file')
    const other = await scene.worked('read_file', 'write_file')
    const foreign = other.turns[0]
    await unchanged(session.conversationId, async () => {
      const byTurn = refusal(
        await service.initiateHandoff({ session, byHand: true, ...transfer(), priorTurn: foreign?.id as never }),
      )
      expect(byTurn).toMatchObject({ code: 'turn.not_found', turnId: foreign?.id })
      for (const callId of ['no-such-call', foreign?.toolCalls[1]?.callId ?? '']) {
        const byCall = refusal(
          await service.initiateHandoff({ session, byHand: true, ...transfer(), toolCalls: [callId] }),
        )
        expect(byCall).toMatchObject({ code: 'tool_call.not_found', callIds: [callId] })
      }
    })
  })

  it('initiating captures, pauses and references', async () => {
    const { handoff, source } = await scene.initiated({ document: 'Half done', flags: ['minimal_continuation'] })
    const { session } = source
    const stored = await kept.handoff(handoff.id)
    expect(stored).toStrictEqual(handoff)
    expect(stored).toMatchObject({
      status: 'initiated',
      sourceSessionId: session.id,
      sourceAgent: session.agentName,
      targetAgent: scene.name('opus'),
      reason,
      document: 'Half done',
      flags: ['minimal_continuation'],
      priorTurnId: source.turns[0]?.id,
    })
    expect(stored.triggeringToolCalls.map(({ toolName }) => toolName)).toEqual(['read_file', 'run_tests'])
    expect(await kept.session(session.id)).toMatchObject({ state: 'paused', heldBy: handoff.id })
    expect(await store.sessions.findActive(session.conversationId)).toBeUndefined()
    const types = (await kept.snapshots(session.id)).map(({ type, messages }) => [type, totalMessages(messages)])
    expect(types).toEqual([
      ['session_start', 0],
      ['handoff_initiated', 2],
    ])
    const led = (await kept.messages(session.conversationId)).map(({ metadata }) => metadata)
    expect(led).toEqual([1, 2].map(() => ({ sessionId: session.id, ledTo: handoff.id })))
  })

  it('with a last turn of plain text the calls of the whole exchange are referenced', async () => {
    const working = await scene.worked('before')
    const asking: TurnInput = { messages: scene.turn('read_file').messages }
    const working2: TurnInput = {
      messages: [{ role: 'tool', text: 'ok' }, ...scene.turn('run_tests').messages.slice(1)],
    }
    const plain: TurnInput = { messages: [{ role: 'assistant', text: 'All green' }] }
    const done = unwrap(await service.recordTurns({ ...working, turns: [asking, working2, plain] }))
    const { handoff } = unwrap(await service.initiateHandoff({ ...done, ...transfer() }))
    const stored = await kept.handoff(handoff.id)
    expect(stored.priorTurnId).toBe(done.turns[2]?.id)
    expect(stored.triggeringToolCalls.map(({ toolName }) => toolName)).toEqual(['read_file', 'run_tests'])
  })

  it('an exchange without calls falls back to the last turn that has any; named calls go first', async () => {
    const working = await scene.worked('read_file', 'run_tests')
    const [, second] = working.turns[0]?.toolCalls ?? []
    const plain = unwrap(await service.recordTurn({ ...working, ...scene.turn() }))
    const first = unwrap(await service.initiateHandoff({ ...plain, ...transfer() }))
    expect((await kept.handoff(first.handoff.id)).triggeringToolCalls).toHaveLength(2)
    unwrap(await service.cancelHandoff({ handoff: first.handoff, reason: 'Not yet' }))
    const named = { session: plain.session.id, holder: plain.holder, ...transfer(), toolCalls: [second?.callId ?? ''] }
    const { handoff } = unwrap(await service.initiateHandoff(named))
    expect((await kept.handoff(handoff.id)).triggeringToolCalls).toStrictEqual([second])
  })

  it('a second initiate while one is open is refused and names the open one', async () => {
    const { handoff, source } = await scene.initiated()
    const { session } = source
    await unchanged(session.conversationId, async () => {
      const error = refusal(await service.initiateHandoff({ session: session.id, byHand: true, ...transfer() }))
      expect(error).toStrictEqual({ code: 'handoff.already_open', sessionId: session.id, handoffId: handoff.id })
    })
  })

  it('completing works from initiated and, by the claim, from accepted', async () => {
    const { handoff } = await scene.initiated()
    unwrap(await service.completeHandoff({ handoff }))
    expect(await kept.handoff(handoff.id)).toMatchObject({
      status: 'completed',
      claim: { claimant: scene.name('opus') },
      version: 3,
    })
    const claimed = (await scene.initiated()).handoff
    unwrap(await service.acceptHandoff({ handoff: claimed, claimant: 'worker-1' }))
    const stranger = refusal(await service.completeHandoff({ handoff: claimed, claimant: 'worker-2' }))
    expect(stranger).toMatchObject({ code: 'handoff.not_claimant', claimant: 'worker-1', by: 'worker-2' })
    unwrap(await service.completeHandoff({ handoff: claimed, claimant: 'worker-1' }))
    expect(await kept.handoff(claimed.id)).toMatchObject({ status: 'completed', claim: { claimant: 'worker-1' } })
  })

  it('completing an unknown, completed, cancelled or failed handoff is refused', async () => {
    const unknown = handoffId(scene.ids.next())
    expect(refusal(await service.completeHandoff({ handoff: unknown }))).toStrictEqual({
      code: 'handoff.not_found',
      handoffId: unknown,
    })
    const [completed, cancelled, failed] = [await scene.initiated(), await scene.initiated(), await scene.initiated()]
    unwrap(await service.completeHandoff(completed))
    unwrap(await service.cancelHandoff({ ...cancelled, reason: 'Not needed' }))
    unwrap(await service.failHandoff({ ...failed, reason: 'It broke' }))
    for (const [from, { handoff }] of Object.entries({ completed, cancelled, failed })) {
      await unchanged(handoff.conversationId, async () => {
        const error = refusal(await service.completeHandoff({ handoff: handoff.id }))
        expect(error).toStrictEqual({
          code: 'handoff.illegal_transition',
          handoffId: handoff.id,
          from,
          command: 'complete',
        })
      })
    }
  })

  it('completing twice with one command id gives one answer and one target session', async () => {
    const { handoff } = await scene.initiated()
    const asked = { handoff, commandId: commandId(scene.ids.next()) }
    const { holder, ...first } = unwrap(await service.completeHandoff(asked))
    expect(holder).toBeDefined()
    // The answer of the first time, but for the token, which the call that made it has alone.
    expect(unwrap(await service.completeHandoff(asked))).toStrictEqual({ ...first, next: 'take_over' })
    expect(await kept.sessions(handoff.conversationId)).toHaveLength(2)
  })

  it('after completing the target is active, the source handed off, both snapshots there', async () => {
    const { handoff, session, source } = await handedOff()
    expect(await kept.session(session.id)).toStrictEqual(session)
    expect((await store.sessions.findActive(session.conversationId))?.id).toBe(session.id)
    expect(session).toMatchObject({ state: 'active', epoch: 2, agentName: scene.name('opus') })
    expect(await kept.session(source.session.id)).toMatchObject({
      state: 'handed_off',
      terminatedByHandoff: handoff.id,
      endSequence: 2,
    })
    expect(await kept.handoff(handoff.id)).toMatchObject({ status: 'completed', targetSessionId: session.id })
    expect((await store.snapshots.findLatest(source.session.id))?.type).toBe('handoff_initiated')
    const opened = await store.snapshots.findLatest(session.id)
    expect(opened).toMatchObject({
      type: 'session_start',
      messages: { user: 1, assistant: 0 },
      range: { start: 3, end: 3 },
    })
    const opening = (await kept.messages(session.conversationId)).at(-1)
    expect(opening).toMatchObject({ role: 'user', metadata: { continues: handoff.id } })
    expect(opening?.text).toMatch(/^Fix the flaky test\n\n/)
  })

  it('cancelling leaves the reason on the handoff and nothing of it on the source', async () => {
    const { handoff, source } = await scene.initiated()
    unwrap(await service.cancelHandoff({ handoff, reason: 'Changed my mind' }))
    const ended = await kept.handoff(handoff.id)
    expect(ended).toMatchObject({ status: 'cancelled', reason, endReason: 'Changed my mind' })
    const stored = await kept.session(source.session.id)
    expect(stored.state).toBe('active')
    for (const key of ['heldBy', 'endedAt', 'endSequence', 'terminatedByHandoff']) {
      expect(JSON.stringify(stored)).not.toContain(`"${key}"`)
    }
    expect(stored.progress).toStrictEqual(source.session.progress)
    unwrap(await service.recordTurn({ ...source, ...scene.turn() }))
    expect(await kept.session(source.session.id)).toMatchObject({ progress: { turns: 2 } })
  })

  it('failing does the same, after a claim too', async () => {
    const { handoff, source } = await scene.initiated()
    unwrap(await service.acceptHandoff({ handoff, claimant: 'worker-1' }))
    unwrap(await service.failHandoff({ handoff, by: 'worker-1', reason: 'It broke' }))
    expect(await kept.handoff(handoff.id)).toMatchObject({ status: 'failed', reason, endReason: 'It broke' })
    const stored = await kept.session(source.session.id)
    expect(stored).toMatchObject({ state: 'active' })
    expect(JSON.stringify(stored)).not.toMatch(/heldBy|endedAt|endSequence|terminatedByHandoff/)
  })

  it('cancelling after completion is refused and neither session changes', async () => {
    const { handoff } = await handedOff()
    await unchanged(handoff.conversationId, async () => {
      for (const result of [
        await service.cancelHandoff({ handoff, reason: 'Too late', by: scene.name('opus') }),
        await service.failHandoff({ handoff: handoff.id, reason: 'Too late' }),
      ]) {
        expect(refusal(result)).toMatchObject({ code: 'handoff.illegal_transition', from: 'completed' })
      }
    })
  })

  it('cancelling an accepted handoff as somebody else is refused', async () => {
    const { handoff } = await scene.initiated()
    unwrap(await service.acceptHandoff({ handoff, claimant: 'worker-1' }))
    await unchanged(handoff.conversationId, async () => {
      const byOther = refusal(await service.cancelHandoff({ handoff, reason: 'Mine now', by: 'worker-2' }))
      expect(byOther).toMatchObject({ code: 'handoff.not_claimant', claimant: 'worker-1', by: 'worker-2' })
      expect(codeOf(await service.cancelHandoff({ handoff, reason: 'Nobody says so' }))).toBe('handoff.not_claimant')
    })
    unwrap(await service.cancelHandoff({ handoff, reason: 'I give it back', by: 'worker-1' }))
    expect((await kept.handoff(handoff.id)).status).toBe('cancelled')
  })

  it('while a handoff is open no session starts, and the held one is not resumed or ended by hand', async () => {
    const { handoff, source } = await scene.initiated()
    const { session, holder } = source
    const { conversationId } = session
    await unchanged(conversationId, async () => {
      const started = await service.startSession({ conversationId, agentName: 'eager', backend: 'scripted' })
      expect(refusal(started)).toStrictEqual({
        code: 'conversation.handoff_open',
        conversationId,
        handoffId: handoff.id,
      })
      for (const result of [
        await service.resumeSession({ session, holder }),
        await service.pauseSession({ session, holder }),
        await service.completeSession({ session: session.id, byHand: true }),
        await service.failSession({ session, holder, reason: 'By hand' }),
      ]) {
        expect(refusal(result)).toMatchObject({ code: 'session.held', handoffId: handoff.id })
      }
    })
  })

  it('a chain of two handoffs is three epochs, read in order by one call', async () => {
    const { conversationId } = (await scene.session(scene.name('a'))).session
    for (const targetAgent of [scene.name('b'), scene.name('c')]) {
      const session = (await store.sessions.findActive(conversationId)) as never
      const { holder } = unwrap(await service.takeOverSession({ session }))
      const worked = unwrap(await service.recordTurn({ session, holder, ...scene.turn('read_file') }))
      const { handoff } = unwrap(await service.initiateHandoff({ ...worked, ...transfer({ targetAgent }) }))
      unwrap(await service.completeHandoff({ handoff }))
      scene.clock.advance(1)
    }
    const calls: string[] = []
    const lineage = await scene.historyOver(counting(store, calls)).lineage(conversationId)
    expect(calls).toEqual(['conversations.lineage'])
    expect(lineage?.sessions.map(({ epoch, agentName }) => [epoch, agentName])).toEqual([
      [1, scene.name('a')],
      [2, scene.name('b')],
      [3, scene.name('c')],
    ])
    expect(lineage?.sessions.map(({ state }) => state)).toEqual(['handed_off', 'handed_off', 'active'])
    expect(lineage?.handoffs.map(({ status, targetAgent }) => [status, targetAgent])).toEqual([
      ['completed', scene.name('b')],
      ['completed', scene.name('c')],
    ])
  })

  it('the open-handoff query finds the open one, and nothing once it is completed', async () => {
    const { handoff, source } = await scene.initiated()
    expect(await store.handoffs.findOpenFor(source.session.id)).toStrictEqual(handoff)
    unwrap(await service.acceptHandoff({ handoff, claimant: 'worker-1' }))
    expect((await store.handoffs.findOpenFor(source.session.id))?.status).toBe('accepted')
    unwrap(await service.completeHandoff({ handoff, claimant: 'worker-1' }))
    expect(await store.handoffs.findOpenFor(source.session.id)).toBeUndefined()
  })

  it('of two concurrent starts one succeeds', async () => {
    const { id } = await scene.conversation()
    const start = (agentName: string) => service.startSession({ conversationId: id, agentName, backend: 'scripted' })
    const results = await Promise.all([start('a'), start('b')])
    expect(results.filter(({ ok }) => ok)).toHaveLength(1)
    const [active, ...others] = await kept.sessions(id)
    expect(others).toEqual([])
    const refused = results.find(({ ok }) => !ok) as (typeof results)[number]
    expect(refusal(refused)).toMatchObject({ code: 'conversation.session_active', sessionId: active?.id })
  })

  it('a paused session cannot become active beside an active one', async () => {
    const { session, holder } = await scene.worked()
    unwrap(await service.pauseSession({ session, holder }))
    const conversation = (await store.conversations.find(session.conversationId)) as never
    const second = await scene.session(scene.name('second'), conversation)
    await unchanged(session.conversationId, async () => {
      const error = refusal(await service.resumeSession({ session, holder }))
      expect(error).toMatchObject({ code: 'conversation.session_active', sessionId: second.session.id })
    })
    const worked = unwrap(await service.recordTurn({ ...second, ...scene.turn() }))
    const { handoff } = unwrap(await service.initiateHandoff({ ...worked, ...transfer() }))
    expect(refusal(await service.resumeSession({ session, holder }))).toMatchObject({
      code: 'conversation.handoff_open',
      handoffId: handoff.id,
    })
  })

  it('a session resumed after others worked continues after their messages', async () => {
    const first = await scene.worked()
    unwrap(await service.pauseSession(first))
    const conversation = (await store.conversations.find(first.session.conversationId)) as never
    const second = await scene.session(scene.name('second'), conversation)
    unwrap(await service.completeSession(unwrap(await service.recordTurn({ ...second, ...scene.turn() }))))
    unwrap(await service.resumeSession(first))
    unwrap(await service.recordTurn({ ...first, ...scene.turn() }))
    const messages = await kept.messages(first.session.conversationId)
    expect(messages.map(({ sequenceNumber, sessionId }) => [sequenceNumber, sessionId])).toEqual(
      [first, first, second, second, first, first].map(({ session }, index) => [index + 1, session.id]),
    )
  })

  it('of accept, cancel, fail and complete at once exactly one decides', async () => {
    const { handoff } = await scene.initiated()
    const results = await Promise.all([
      service.completeHandoff({ handoff, claimant: 'worker-2' }),
      service.acceptHandoff({ handoff, claimant: 'worker-1' }),
      service.cancelHandoff({ handoff, reason: 'Not needed' }),
      service.failHandoff({ handoff, reason: 'It broke' }),
    ])
    expect(results.filter(({ ok }) => ok)).toHaveLength(1)
    const statuses = ['completed', 'accepted', 'cancelled', 'failed']
    expect((await kept.handoff(handoff.id)).status).toBe(statuses[results.findIndex(({ ok }) => ok)])
  })

  it('a session that is no longer the active one takes no turn', async () => {
    const { source } = await handedOff()
    const completed = await scene.worked()
    unwrap(await service.completeSession(completed))
    const held = (await scene.initiated()).source
    for (const { session, holder } of [source, completed, held]) {
      await unchanged(session.conversationId, async () => {
        for (const copy of [session, session.id, await kept.session(session.id)]) {
          expect(codeOf(await service.recordTurn({ session: copy, holder, ...scene.turn() }))).toBe(
            'session.not_active',
          )
        }
      })
    }
  })

  it.each(['stale copy', 'fresh copy', 'id'] as const)(
    'a superseded holder with a %s writes nothing',
    async (holding) => {
      const zombie = await scene.worked()
      const { session, holder } = unwrap(await service.takeOverSession({ session: zombie.session.id }))
      const copies = { 'stale copy': zombie.session, 'fresh copy': session, id: session.id }
      const asked = { session: copies[holding], holder: zombie.holder }
      await unchanged(session.conversationId, async () => {
        const superseded = { code: 'session.superseded', sessionId: session.id }
        expect(await service.recordTurn({ ...asked, ...scene.turn() })).toEqual({ ok: false, error: superseded })
        expect(await service.pauseSession(asked)).toEqual({ ok: false, error: superseded })
        expect(await service.captureSnapshot(asked)).toEqual({ ok: false, error: superseded })
        expect(await service.initiateHandoff({ ...asked, ...transfer() })).toEqual({ ok: false, error: superseded })
        expect(await service.completeSession(asked)).toEqual({ ok: false, error: superseded })
      })
      unwrap(await service.recordTurn({ session, holder, ...scene.turn() }))
      expect(await kept.session(session.id)).toMatchObject({ progress: { turns: 2 } })
    },
  )

  it('a caller whose copy is merely stale gets its turn recorded after one reload', async () => {
    const stale = await scene.session()
    unwrap(await service.recordTurn({ ...stale, ...scene.turn() }))
    const calls: string[] = []
    const impatient = scene.serviceOver(counting(store, calls))
    unwrap(await impatient.recordTurn({ ...stale, ...scene.turn() }))
    expect(calls).toEqual(['unitOfWork.commit', 'unitOfWork.load', 'unitOfWork.commit'])
    expect(await kept.messages(stale.session.conversationId)).toHaveLength(4)
  })

  it('an expired claim is void once another claims; the first complete is then refused', async () => {
    const { handoff } = await scene.initiated()
    unwrap(await service.acceptHandoff({ handoff, claimant: 'worker-1', ...BRIEF }))
    await scene.passTime(LONG_ENOUGH)
    unwrap(await service.acceptHandoff({ handoff, claimant: 'worker-2' }))
    const error = refusal(await service.completeHandoff({ handoff, claimant: 'worker-1' }))
    expect(error).toMatchObject({ code: 'handoff.not_claimant', claimant: 'worker-2', by: 'worker-1' })
    expect(await kept.handoff(handoff.id)).toMatchObject({ status: 'accepted', claim: { claimant: 'worker-2' } })
  })

  it('if nobody else claimed, the late complete succeeds', async () => {
    const { handoff } = await scene.initiated()
    unwrap(await service.acceptHandoff({ handoff, claimant: 'worker-1', ...BRIEF }))
    await scene.passTime(LONG_ENOUGH)
    unwrap(await service.completeHandoff({ handoff, claimant: 'worker-1' }))
    expect(await kept.handoff(handoff.id)).toMatchObject({ status: 'completed', claim: { claimant: 'worker-1' } })
  })

  it('before the deadline a claim cannot be taken, and the refusal names who has it until when', async () => {
    const { handoff } = await scene.initiated()
    unwrap(await service.acceptHandoff({ handoff, claimant: 'worker-1' }))
    const { claim } = (await kept.handoff(handoff.id)) as Extract<HandoffMetadata, { status: 'accepted' }>
    const error = refusal(await service.acceptHandoff({ handoff, claimant: 'worker-2' }))
    const { claimant, deadline } = claim
    expect(error).toStrictEqual({ code: 'handoff.already_claimed', handoffId: handoff.id, claimant, deadline })
    expect(claimant).toBe('worker-1')
    expect(Date.parse(deadline) - Date.parse(claim.acceptedAt)).toBe(60_000)
  })

  it('a stranger cannot cancel before the deadline of a claim, but can after it', async () => {
    const { handoff } = await scene.initiated()
    unwrap(await service.acceptHandoff({ handoff, claimant: 'worker-1' }))
    expect(codeOf(await service.cancelHandoff({ handoff, reason: 'Mine', by: 'boss' }))).toBe('handoff.not_claimant')
    const brief = (await scene.initiated()).handoff
    unwrap(await service.acceptHandoff({ handoff: brief, claimant: 'worker-1', ...BRIEF }))
    await scene.passTime(LONG_ENOUGH)
    unwrap(await service.cancelHandoff({ handoff: brief, reason: 'It is gone', by: 'boss' }))
    expect(await kept.handoff(brief.id)).toMatchObject({ status: 'cancelled', claim: { claimant: 'worker-1' } })
  })

  it('one command id and payload gives the first answer, even after things moved on', async () => {
    const working = await scene.session()
    const asked = { ...working, ...scene.turn('read_file'), commandId: commandId(scene.ids.next()) }
    const first = unwrap(await service.recordTurn(asked))
    const moved = await scene.work({ ...working, ...first })
    unwrap(await service.completeSession(moved))
    await unchanged(working.session.conversationId, async () => {
      expect(unwrap(await service.recordTurn(asked))).toStrictEqual(first)
      expect(unwrap(await service.recordTurn({ ...asked, session: working.session.id }))).toStrictEqual(first)
    })
  })

  it('one command id with another payload is refused', async () => {
    const working = await scene.session()
    const id = commandId(scene.ids.next())
    unwrap(await service.recordTurn({ ...working, ...scene.turn('read_file'), commandId: id }))
    await unchanged(working.session.conversationId, async () => {
      for (const result of [
        await service.recordTurn({ ...working, ...scene.turn('write_file'), commandId: id }),
        await service.pauseSession({ ...working, commandId: id }),
        await service.openConversation({ originalTask: 'Another', commandId: id }),
      ]) {
        expect(refusal(result)).toStrictEqual({ code: 'command.id_reused', commandId: id })
      }
    })
  })

  it('after a refusal the same command id is decided anew', async () => {
    const { session, holder } = await scene.session()
    const asked = { session: session.id, holder, ...transfer(), commandId: commandId(scene.ids.next()) }
    expect(codeOf(await service.initiateHandoff(asked))).toBe('session.no_turns')
    unwrap(await service.recordTurn({ session, holder, ...scene.turn() }))
    const { handoff } = unwrap(await service.initiateHandoff(asked))
    expect(await kept.handoff(handoff.id)).toStrictEqual(handoff)
  })

  it('opening one external key twice, even at once, gives one conversation', async () => {
    const externalKey = scene.name('job')
    const open = (originalTask: string) => service.openConversation({ originalTask, externalKey })
    const answers = (await Promise.all([open('First'), open('Second'), open('Third')])).map(unwrap)
    const again = unwrap(await open('Fourth')).conversation
    const stored = await store.conversations.findByExternalKey(externalKey)
    for (const { conversation } of [...answers, { conversation: again }]) expect(conversation).toStrictEqual(stored)
    expect(await kept.audit(again.id)).toHaveLength(1)
  })

  it('ten workers over a hundred pending handoffs claim each once', async () => {
    const targetAgent = scene.name('opus')
    for (let n = 0; n < 100; n += 1) await scene.initiated()
    const claims: string[] = []
    const work = async (claimant: string): Promise<void> => {
      for (;;) {
        const { handoff } = unwrap(await service.claimNext({ targetAgent, claimant }))
        if (handoff === undefined) return
        expect(await kept.handoff(handoff.id)).toMatchObject({ status: 'accepted', claim: { claimant } })
        claims.push(handoff.id)
      }
    }
    await Promise.all(Array.from({ length: 10 }, (_, n) => work(scene.name(`worker-${n}`))))
    expect(claims).toHaveLength(100)
    expect(new Set(claims).size).toBe(100)
    expect((await store.handoffs.listPendingFor(targetAgent, {})).items).toEqual([])
  })
})

/** The same store, noting every call of a port. */
const counting = (store: Store, calls: string[]): Store =>
  new Proxy(store, {
    get: (target, port) => {
      const methods = Reflect.get(target, port)
      return typeof methods !== 'object' || methods === null ? methods : noting(methods, String(port), calls)
    },
  })

const noting = <Port extends object>(port: Port, name: string, calls: string[]): Port =>
  new Proxy(port, {
    get: (target, method) => {
      const call = Reflect.get(target, method)
      if (typeof call !== 'function') return call
      return (...args: readonly unknown[]) => {
        calls.push(`${name}.${String(method)}`)
        return call.apply(target, args)
      }
    },
  })
