import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { commandId } from '../../src/domain/kernel/ids.ts'
import { unwrap } from '../../src/domain/unwrap.ts'
import type { Store } from '../../src/ports/store/store.ts'
import { interrupted } from '../races/jitter.ts'
import { LINES, MEANS, Stage } from './stage.ts'

class Undone extends Error {}

describe.each(LINES.flatMap((line) => MEANS.map((means) => ({ ...line, means }))))(
  '$means, $line',
  ({ url, means }) => {
    let stage: Stage
    let job = 0

    beforeAll(async () => {
      stage = await Stage.open(url)
    })
    afterAll(() => stage[Symbol.asyncDispose]())

    const to = () => ({ targetAgent: stage.scene.name('opus'), reason: 'The window is nearly full' })

    /** The service over a store in which somebody gets in between the read and the write of a command. */
    const interruptedBy = (meanwhile: () => Promise<void>) => {
      const { store } = stage
      const within: Store['within'] = (transaction) => {
        const inside = store.within?.(transaction)
        if (inside === undefined) throw new Error('The store has no transactions')
        return interrupted(inside, meanwhile)
      }
      return stage.scene.serviceOver({ ...store, within } as Store)
    }

    it('commits a turn and a handoff together with the rows of the caller', async () => {
      const { scene, kept } = stage
      const working = await scene.session()
      const id = ++job
      const handed = await stage.within(means, async ({ transaction, addJob }) => {
        const handoffs = scene.service.with(transaction)
        await addJob(id)
        const worked = unwrap(await handoffs.recordTurn({ ...working, ...scene.turn('read_file') }))
        const { handoff } = unwrap(await handoffs.initiateHandoff({ ...worked, ...to() }))
        expect((await kept.session(working.session.id)).progress.turns).toBe(0)
        return handoff
      })
      expect(await stage.jobs()).toContain(id)
      expect(await kept.session(working.session.id)).toMatchObject({
        state: 'paused',
        heldBy: handed.id,
        progress: { turns: 1 },
      })
      expect((await kept.handoff(handed.id)).triggeringToolCalls.map(({ toolName }) => toolName)).toEqual(['read_file'])
      const events = (await kept.audit(working.session.conversationId)).map(({ event }) => event.type)
      expect(events).toEqual(expect.arrayContaining(['turn.recorded', 'handoff.initiated']))
      expect(unwrap(await scene.service.completeHandoff({ handoff: handed })).session.epoch).toBe(2)
    })

    it('passes a conversation on from beginning to end in one transaction', async () => {
      const { scene, kept } = stage
      const last = await stage.within(means, async ({ transaction }) => {
        const handoffs = scene.service.with(transaction)
        const { conversation } = unwrap(await handoffs.openConversation({ originalTask: 'Fix the flaky test' }))
        const agent = { conversationId: conversation.id, agentName: 'first', backend: 'scripted' }
        const working = unwrap(await handoffs.startSession(agent))
        const worked = unwrap(await handoffs.recordTurn({ ...working, ...scene.turn('read_file') }))
        const { handoff } = unwrap(await handoffs.initiateHandoff({ ...worked, ...to() }))
        unwrap(await handoffs.acceptHandoff({ handoff, claimant: 'worker' }))
        const next = unwrap(await handoffs.completeHandoff({ handoff, claimant: 'worker' }))
        unwrap(await handoffs.captureSnapshot(next))
        return unwrap(await handoffs.recordTurn({ ...next, ...scene.turn() })).session
      })
      expect((await kept.sessions(last.conversationId)).map(({ state }) => state)).toEqual(['handed_off', 'active'])
      expect(await kept.messages(last.conversationId)).toHaveLength(5)
    })

    it('leaves nothing after a rollback, and the command id can be used again', async () => {
      const { scene, kept } = stage
      const working = await scene.worked('run_tests')
      const { conversationId } = working.session
      const before = await kept.audit(conversationId)
      const name = commandId(scene.ids.next())
      const turn = { ...working, ...scene.turn('read_file'), commandId: name }
      const undone = stage.within(means, async ({ transaction, addJob }) => {
        await addJob(++job)
        const worked = unwrap(await scene.service.with(transaction).recordTurn(turn))
        unwrap(await scene.service.with(transaction).initiateHandoff({ ...worked, ...to() }))
        throw new Undone()
      })
      await expect(undone).rejects.toThrow(Undone)
      expect(await stage.jobs()).not.toContain(job)
      expect(await kept.handoffs(conversationId)).toEqual([])
      expect(await kept.audit(conversationId)).toEqual(before)
      expect(await kept.session(working.session.id)).toEqual(working.session)
      expect(unwrap(await scene.service.recordTurn(turn)).session.progress.turns).toBe(2)
    })

    it('believes no copy from a transaction that was rolled back', async () => {
      const { scene, kept } = stage
      const working = await scene.worked('run_tests')
      const answers: (typeof working)[] = []
      const undone = stage.within(means, async ({ transaction }) => {
        const worked = unwrap(await scene.service.with(transaction).recordTurn({ ...working, ...scene.turn('never') }))
        answers.push({ ...worked, holder: working.holder })
        throw new Undone()
      })
      await expect(undone).rejects.toThrow(Undone)
      // The same version, the same number of turns, the same next sequence number: only the turn is another.
      unwrap(await scene.service.recordTurn({ ...working, ...scene.turn('read_file') }))
      const [copy = working] = answers
      const { handoff } = unwrap(await scene.service.initiateHandoff({ ...copy, ...to() }))
      expect((await kept.handoff(handoff.id)).triggeringToolCalls.map(({ toolName }) => toolName)).toEqual([
        'read_file',
      ])
    })

    it('returns a conflict and stays usable: the rows of the caller are committed without the command', async () => {
      const { scene, kept } = stage
      const working = await scene.worked()
      const id = ++job
      const late = interruptedBy(async () => {
        unwrap(await scene.service.recordTurn({ ...working, ...scene.turn('theirs') }))
      })
      const refused = await stage.within(means, async ({ transaction, addJob }) => {
        await addJob(id)
        const handoffs = late.with(transaction)
        const ours = await handoffs.recordTurn({ ...working, ...scene.turn('ours') })
        // In the same transaction, on what is there now.
        const again = unwrap(await scene.service.with(transaction).recordTurn({ ...working, ...scene.turn('again') }))
        expect(again.session.progress.turns).toBe(3)
        return ours
      })
      expect(refused).toMatchObject({ ok: false, error: { code: 'transaction.conflict' } })
      expect(await stage.jobs()).toContain(id)
      const turns = await stage.store.messages.listTurns(working.session.id, {})
      expect(turns.items.flatMap(({ toolCalls }) => toolCalls.map(({ toolName }) => toolName))).toEqual([
        'theirs',
        'again',
      ])
      expect((await kept.session(working.session.id)).progress.turns).toBe(3)
    })

    it('answers a repeated command again, and refuses a reused id, inside and after the commit', async () => {
      const { scene, kept } = stage
      const working = await scene.session()
      const turn = { ...working, ...scene.turn('read_file'), commandId: commandId(scene.ids.next()) }
      const first = await stage.within(means, async ({ transaction }) => {
        const handoffs = scene.service.with(transaction)
        const recorded = unwrap(await handoffs.recordTurn(turn))
        expect(unwrap(await handoffs.recordTurn(turn)).turns).toEqual(recorded.turns)
        expect(await handoffs.recordTurn({ ...turn, ...scene.turn('other') })).toMatchObject({
          error: { code: 'command.id_reused' },
        })
        return recorded
      })
      expect(unwrap(await scene.service.recordTurn(turn)).turns).toEqual(first.turns)
      await stage.within(means, async ({ transaction }) => {
        expect(unwrap(await scene.service.with(transaction).recordTurn(turn)).turns).toEqual(first.turns)
      })
      expect((await kept.session(working.session.id)).progress.turns).toBe(1)
    })

    it('finds the same command that was carried out between its read and its write', async () => {
      const { scene, kept } = stage
      const working = await scene.session()
      const turn = { ...working, ...scene.turn('read_file'), commandId: commandId(scene.ids.next()) }
      const late = interruptedBy(async () => {
        unwrap(await scene.service.recordTurn(turn))
      })
      const again = await stage.within(means, async ({ transaction, addJob }) => {
        await addJob(++job)
        return unwrap(await late.with(transaction).recordTurn(turn))
      })
      expect(again.session.progress.turns).toBe(1)
      expect(await stage.jobs()).toContain(job)
      expect(await kept.messages(working.session.conversationId)).toHaveLength(2)
    })

    it('a refusal of the domain changes nothing', async () => {
      const { scene } = stage
      const working = await scene.session()
      await stage.within(means, async ({ transaction, addJob }) => {
        await addJob(++job)
        const refused = await scene.service.with(transaction).initiateHandoff({ ...working, ...to() })
        expect(refused).toMatchObject({ ok: false, error: { code: 'session.no_turns' } })
        await addJob(++job)
      })
      expect(await stage.jobs()).toEqual(expect.arrayContaining([job - 1, job]))
    })
  },
)
