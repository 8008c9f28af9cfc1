import assert from 'node:assert/strict'
import { commandId } from '../../domain/kernel/ids.ts'
import { unwrap } from '../../domain/unwrap.ts'
import { refusal } from '../expected-refusal.ts'
import { FaultInjector } from '../fault-injector.ts'
import type { Scene } from '../scene.ts'
import type { ContractPart } from '../store-contract.ts'

const entries = async (scene: Scene, conversation: Parameters<Scene['store']['audit']['list']>[0]): Promise<number> =>
  (await scene.store.audit.list(conversation, {})).items.length

export const commandsContract: ContractPart = {
  about: 'a command is carried out once',
  cases: {
    'gives the first answer again, and writes nothing': async (scene) => {
      const id = commandId(scene.ids.next())
      const started = await scene.session()
      const request = { ...started, ...scene.turn('read_file'), commandId: id }
      const first = unwrap(await scene.service.recordTurn(request))
      const { conversationId } = first.session
      const before = await entries(scene, conversationId)
      await scene.work({ ...started, ...first }, 'run_tests')
      const again = unwrap(await scene.service.recordTurn(request))
      assert.deepEqual(again, first)
      assert.equal(await entries(scene, conversationId), before + 1)
    },
    'gives the first answer again after things have moved on': async (scene) => {
      const source = await scene.worked('read_file')
      const request = { ...source, targetAgent: scene.name('opus'), reason: 'full', document: 'Notes' }
      const named = { ...request, commandId: commandId(scene.ids.next()) }
      const first = unwrap(await scene.service.initiateHandoff(named))
      unwrap(await scene.service.completeHandoff({ handoff: first.handoff }))
      assert.deepEqual(unwrap(await scene.service.initiateHandoff(named)), first)
      assert.equal((await scene.store.handoffs.listForConversation(source.session.conversationId, {})).items.length, 1)
    },
    'refuses an id used again for something else': async (scene) => {
      const id = commandId(scene.ids.next())
      const started = await scene.session()
      const first = unwrap(await scene.service.recordTurn({ ...started, ...scene.turn('read_file'), commandId: id }))
      const other = await scene.service.recordTurn({ ...started, ...first, ...scene.turn('run_tests'), commandId: id })
      assert.equal(refusal(other).code, 'command.id_reused')
      assert.deepEqual(await scene.store.sessions.find(first.session.id), first.session)
    },
    'refuses an id used before, though there is nothing left to do': async (scene) => {
      const id = commandId(scene.ids.next())
      const providerSessionId = scene.name('provider')
      const started = await scene.session()
      const attached = unwrap(await scene.service.attachSession({ ...started, providerSessionId }))
      const first = { ...started, ...attached, totals: { inputTokens: 9, outputTokens: 1 }, commandId: id }
      const accounted = unwrap(await scene.service.accountSession(first))
      const reused = await scene.service.attachSession({ ...started, ...accounted, providerSessionId, commandId: id })
      assert.equal(refusal(reused).code, 'command.id_reused')
    },
    'decides a refused command anew': async (scene) => {
      const conversation = await scene.conversation()
      const first = await scene.session(scene.name('one'), conversation)
      const request = { conversationId: conversation.id, agentName: scene.name('two'), backend: 'scripted' }
      const named = { ...request, commandId: commandId(scene.ids.next()) }
      assert.equal(refusal(await scene.service.startSession(named)).code, 'conversation.session_active')
      unwrap(await scene.service.completeSession(first))
      assert.equal(unwrap(await scene.service.startSession(named)).session.epoch, 2)
    },
    'does not double a command whose reply was lost': async (scene) => {
      const injector = new FaultInjector(scene.store)
      const service = scene.serviceOver(injector.store)
      const { handoff } = await scene.initiated()
      const request = { handoff, commandId: commandId(scene.ids.next()) }
      injector.plan('reply_lost')
      await assert.rejects(service.completeHandoff(request), { code: 'store.unavailable', retryable: true })
      const done = unwrap(await service.completeHandoff(request))
      assert.deepEqual(await scene.store.sessions.find(done.session.id), done.session)
      assert.equal((await scene.store.sessions.listForConversation(handoff.conversationId, {})).items.length, 2)
    },
    'answers from the decision it sent when a reply is lost within the call, and doubles nothing': async (scene) => {
      const injector = new FaultInjector(scene.store)
      const service = scene.serviceOver(injector.store)
      const started = await scene.session()
      for (const named of [{}, { commandId: commandId(scene.ids.next()) }]) {
        const { length: before } = (await scene.store.messages.listTurns(started.session.id, {})).items
        injector.plan('sent_twice')
        const recorded = unwrap(await service.recordTurn({ ...started, ...scene.turn('read_file'), ...named }))
        assert.deepEqual(await scene.store.sessions.find(started.session.id), recorded.session)
        const { items: turns } = await scene.store.messages.listTurns(started.session.id, {})
        assert.deepEqual(turns.slice(before), recorded.turns)
      }
    },
    'gives out the token of a take-over whose reply was lost within the call': async (scene) => {
      const injector = new FaultInjector(scene.store)
      const { session } = await scene.session()
      injector.plan('sent_twice')
      const taken = unwrap(await scene.serviceOver(injector.store).takeOverSession({ session }))
      assert.equal(await scene.store.sessions.isHeldBy(session.id, taken.holder), true)
    },
    'remembers every step by id and digest, and the answer only where the caller named the command': async (scene) => {
      const started = await scene.session()
      const id = commandId(scene.ids.next())
      const named = unwrap(await scene.service.recordTurn({ ...started, ...scene.turn('read_file'), commandId: id }))
      unwrap(await scene.service.recordTurn({ ...started, ...named, ...scene.turn('run_tests') }))
      const { items } = await scene.store.audit.list(started.session.conversationId, {})
      const ids = [...new Set(items.map((entry) => entry.commandId))]
      const commands = await scene.store.audit.findCommands(ids)
      assert.equal(commands.length, ids.length)
      assert.equal(
        commands.every(({ digest }) => digest.length > 0),
        true,
      )
      assert.deepEqual(
        commands.flatMap((command) => (command.receipt === undefined ? [] : command.id)),
        [id],
      )
    },
    'knows a repeated command before it looks at anything else': async (scene) => {
      const { handoff } = await scene.initiated()
      const request = { handoff, reason: 'Not needed', commandId: commandId(scene.ids.next()) }
      const first = unwrap(await scene.service.cancelHandoff(request))
      assert.deepEqual(unwrap(await scene.service.cancelHandoff(request)), first)
    },
    'is remembered for an hour at least, however little is to be kept': async (scene) => {
      const request = { originalTask: 'Fix it', commandId: commandId(scene.ids.next()) }
      const first = unwrap(await scene.service.openConversation(request))
      const { commands } = scene.store
      await scene.passTime(50)
      assert.equal(await commands.countPrunable(0), 0)
      assert.equal(await commands.prune(0, 1_000), 0)
      assert.deepEqual(unwrap(await scene.service.openConversation(request)), first)
    },
    'records the turn of a caller whose copy is merely old': async (scene) => {
      const started = await scene.session()
      unwrap(await scene.service.recordTurn({ ...started, ...scene.turn('read_file') }))
      const second = unwrap(await scene.service.recordTurn({ ...started, ...scene.turn('run_tests') }))
      assert.equal(second.turns[0]?.number, 2)
      assert.equal((await scene.store.messages.listTurns(started.session.id, {})).items.length, 2)
    },
    'keeps a batch of turns whole, or none of it': async (scene) => {
      const started = await scene.session()
      const bad = { messages: [] }
      const refused = await scene.service.recordTurns({ ...started, turns: [scene.turn('read_file'), bad] })
      assert.equal(refusal(refused).code, 'input.invalid')
      assert.equal((await scene.store.messages.listTurns(started.session.id, {})).items.length, 0)
      const recorded = unwrap(
        await scene.service.recordTurns({ ...started, turns: [scene.turn('a'), scene.turn('b', 'c')] }),
      )
      assert.deepEqual((await scene.store.messages.listTurns(started.session.id, {})).items, recorded.turns)
    },
  },
}
