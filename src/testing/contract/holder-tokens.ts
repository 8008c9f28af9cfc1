import assert from 'node:assert/strict'
import { expecting } from '../../domain/decision.ts'
import { commandId, type HolderToken } from '../../domain/kernel/ids.ts'
import { unwrap } from '../../domain/unwrap.ts'
import { digestOf } from '../../ports/system/holder-tokens.ts'
import { mustHold } from '../../services/commands/answers.ts'
import { FaultInjector } from '../fault-injector.ts'
import { refusal } from '../refusal.ts'
import type { ContractPart } from '../store-contract.ts'
import { rawUnit } from './raw-unit.ts'
import { assertIntact } from './trail.ts'

export const holderTokensContract: ContractPart = {
  about: 'the token of a holder stays with the call that made it',
  cases: {
    'gives its token to the call whose reply was lost, and to no process that asks later': async (scene) => {
      const injector = new FaultInjector(scene.store)
      const [service, later] = [scene.serviceOver(injector.store), scene.serviceOver(scene.store)]
      const { id: conversationId } = await scene.conversation()
      const agent = { conversationId, agentName: scene.name('one'), backend: 'scripted' }
      const start = { ...agent, commandId: commandId(scene.ids.next()) }
      injector.plan('reply_lost')
      await assert.rejects(service.startSession(start), { code: 'store.unavailable', retryable: true })
      const started = mustHold(unwrap(await service.startSession(start)))
      const { session } = started
      const turned = await scene.work(started, 'read_file')
      const { holder: _, ...answered } = started
      assert.deepEqual(unwrap(await later.startSession(start)), { ...answered, next: 'take_over' })
      assert.equal(refusal(await later.startSession({ ...start, model: 'other' })).code, 'command.id_reused')
      const take = { session: session.id, commandId: commandId(scene.ids.next()) }
      injector.plan('sent_twice')
      const taken = mustHold(unwrap(await service.takeOverSession(take)))
      assert.equal(await scene.store.sessions.isHeldBy(session.id, taken.holder), true)
      assert.equal(await scene.store.sessions.isHeldBy(session.id, started.holder), false)
      const again = unwrap(await later.takeOverSession(take))
      assert.deepEqual([again.holder, again.next], [undefined, 'take_over'])
      const to = { ...turned, ...taken, targetAgent: scene.name('opus') }
      const { handoff } = unwrap(await service.initiateHandoff(to))
      const complete = { handoff: handoff.id, commandId: commandId(scene.ids.next()) }
      const completed = mustHold(unwrap(await service.completeHandoff(complete)))
      assert.equal(await scene.store.sessions.isHeldBy(completed.session.id, completed.holder), true)
      assert.equal(unwrap(await later.completeHandoff(complete)).next, 'take_over')
      // Told to take over, it does, and works: the earlier holder is superseded.
      const over = unwrap(await later.takeOverSession({ session: completed.session.id }))
      await scene.work(over, 'run_tests')
      assert.equal(
        refusal(await service.recordTurn({ ...completed, ...scene.turn('run_tests') })).code,
        'session.superseded',
      )
    },
    'keeps digests, and no token in anything that can be read': async (scene) => {
      const { id: conversationId } = await scene.conversation()
      const named = () => ({ commandId: commandId(scene.ids.next()) })
      const agent = { conversationId, agentName: scene.name('one'), backend: 'scripted', leaseMs: 60_000 }
      const started = mustHold(unwrap(await scene.service.startSession({ ...agent, ...named() })))
      const { session, holder } = started
      const turn = { ...started, ...scene.turn('read_file'), ...named() }
      unwrap(await scene.service.recordTurn(turn))
      const asked = { id: commandId(scene.ids.next()), payload: '' }
      const { store } = scene
      const facts = await store.unitOfWork.load({ about: 'session', sessionId: session.id }, asked)
      assert.equal(facts.repeated, undefined)
      assert.equal(facts.repeated === undefined && facts.facts.working?.holder, digestOf(holder))
      const again = await store.unitOfWork.load(
        { about: 'session', sessionId: session.id },
        { id: turn.commandId, payload: '' },
      )
      const chain = await store.audit.readChain(conversationId, { limit: 1_000 })
      const commands = await store.audit.findCommands(chain.entries.map((entry) => entry.commandId))
      const everything = [facts, again, chain, commands, await store.leases.find(session.id)]
      assert.equal(JSON.stringify(everything).includes(holder), false)
    },
    'takes nothing from a caller that has read the digest': async (scene) => {
      const { session, holder } = await scene.worked('read_file')
      const digest = digestOf(holder) as string as HolderToken
      const turned = await scene.service.recordTurn({ session, holder: digest, ...scene.turn('read_file') })
      assert.equal(refusal(turned).code, 'input.invalid')
      const shown = { session, holder: digestOf(holder), token: digest }
      const move = rawUnit(scene, [{ type: 'expect_session', session, expected: expecting(shown) }])
      assert.equal((await scene.store.unitOfWork.commit(move)).outcome, 'conflict')
      // Nor are words put into a session by a unit that shows no token at all.
      const { progress } = session
      const spoken = { ...progress, lastSequence: progress.nextSequence }
      const working = { session: { ...session, version: session.version + 1, progress: spoken } }
      const expected = expecting({ session, holder: digestOf(holder) })
      const unit = rawUnit(scene, [{ type: 'move_session', working, expected }])
      assert.equal((await scene.store.unitOfWork.commit(unit)).outcome, 'conflict')
      assert.equal(await scene.store.leases.renew(session.id, digest, 60_000), false)
      await assertIntact(scene, session.conversationId)
    },
    'changes a lease only with the session that the same unit begins or moves': async (scene) => {
      const { session, holder } = await scene.session(scene.name('one'), undefined, { leaseMs: 60_000 })
      const lease = { session, holder: digestOf(holder), leaseMs: 1 }
      for (const change of [{ type: 'drop_lease', session } as const, { type: 'set_lease', ...lease } as const])
        await assert.rejects(scene.store.unitOfWork.commit(rawUnit(scene, [change])), { code: 'store.integrity' })
      assert.equal(await scene.store.leases.renew(session.id, holder, 60_000), true)
    },
  },
}
