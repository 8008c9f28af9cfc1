import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { commandId } from '../../src/domain/kernel/ids.ts'
import { unwrap } from '../../src/domain/unwrap.ts'
import { MemoryStore } from '../../src/entry/memory.ts'
import type { Store } from '../../src/entry/ports.ts'
import { FixedClock, refusal } from '../../src/entry/testing.ts'
import { Scene } from '../../src/testing/scene.ts'
import { openStore, RULE_STORES } from '../support/stores.ts'
import { LINES, MEANS, Stage } from '../transactions/stage.ts'
import { openRewindable } from './rewindable-store.ts'

class Undone extends Error {}

describe.each(RULE_STORES)('on %s, no proof that the store was set back', (kind) => {
  let scene: Scene
  beforeAll(async () => {
    scene = new Scene(await openStore(kind))
  }, 120_000)

  it('is a copy that the caller changed', async () => {
    const worked = await scene.work(await scene.session(), 'read')
    const session = { ...worked.session, version: worked.session.version + 5 }
    const recorded = unwrap(await scene.service.recordTurn({ ...worked, session, ...scene.turn() }))
    expect(recorded.session.version).toBe(worked.session.version + 1)
    expect(unwrap(await scene.service.recordTurn({ ...recorded, ...scene.turn() })).session.progress.turns).toBe(3)
  })

  it('is a read that was under way while this process was answered', async () => {
    const worked = await scene.work(await scene.session(), 'read')
    // The store as it was when the read was sent, and the answer to a turn before that of the read.
    let meanwhile: (() => Promise<unknown>) | undefined
    const { unitOfWork } = scene.store
    const slow: Store['unitOfWork'] = {
      load: async (question, command) => {
        const loaded = await unitOfWork.load(question, command)
        const work = meanwhile
        meanwhile = undefined
        await work?.()
        return loaded
      },
      commit: (unit) => unitOfWork.commit(unit),
      estimateNow: () => unitOfWork.estimateNow(),
    }
    const { sessions, handoffs, conversations, snapshots, messages, signals } = scene.store
    const store = {
      unitOfWork: slow,
      sessions,
      handoffs,
      conversations,
      snapshots,
      messages,
      signals,
    } as unknown as Store
    const service = scene.serviceOver(store)
    meanwhile = async () => unwrap(await service.recordTurn({ ...worked, ...scene.turn('first') }))
    const { holder, session } = worked
    const recorded = unwrap(await service.recordTurn({ session: session.id, holder, ...scene.turn('second') }))
    expect(recorded.session.progress.turns).toBe(3)
  })
})

describe.each(LINES.flatMap((line) => MEANS.map((means) => ({ ...line, means }))))(
  '$means, $line: no proof that the store was set back',
  ({ url, means }) => {
    let stage: Stage
    beforeAll(async () => {
      stage = await Stage.open(url)
    })
    afterAll(() => stage[Symbol.asyncDispose]())

    it('is an answer from a transaction that was rolled back', async () => {
      const { scene } = stage
      const working = await scene.session()
      let inside: Awaited<ReturnType<Scene['work']>> | undefined
      const undone = stage.within(means, async ({ transaction }) => {
        const handoffs = scene.service.with(transaction)
        inside = unwrap(await handoffs.recordTurn({ ...working, ...scene.turn('read') }))
        inside = unwrap(await handoffs.recordTurn({ ...inside, ...scene.turn('edit') }))
        throw new Undone()
      })
      await expect(undone).rejects.toThrow(Undone)
      expect(inside?.session.progress.turns).toBe(2)
      const recorded = unwrap(await scene.service.recordTurn({ ...working, ...inside, ...scene.turn('read') }))
      expect(recorded.session.progress.turns).toBe(1)
    })

    it('nor is one that was rolled back to a savepoint, whatever was committed after it', async () => {
      const { scene } = stage
      const [lost, kept] = [await scene.session(), await scene.session()]
      const inside = await stage.withClient(async ({ client }) => {
        const inside = scene.service.with(client)
        await client.query('savepoint before')
        unwrap(await inside.recordTurn({ ...lost, ...scene.turn('read') }))
        await client.query('rollback to savepoint before')
        unwrap(await inside.recordTurn({ ...kept, ...scene.turn('read') }))
        return inside
      })
      expect(await inside.committed()).toBe(true)
      expect(unwrap(await scene.service.recordTurn({ ...lost, ...scene.turn() })).session.progress.turns).toBe(1)
      expect(unwrap(await scene.service.recordTurn({ ...kept, ...scene.turn() })).session.progress.turns).toBe(2)
    })

    it('is a read of a transaction that sees the store as it was when it began', async () => {
      const { scene } = stage
      const working = await scene.session()
      await stage.withClient(async ({ client }) => {
        await client.query('select 1 from batonpass.conversations limit 1')
        // Outside of it the session gets further, and this process is answered.
        const worked = await scene.work(working, 'read')
        const inside = scene.service.with(client)
        // The server says that somebody else was there in between.
        const late = await inside.recordTurn({ ...worked, ...scene.turn('late') })
        expect(refusal(late).code).toBe('transaction.conflict')
      }, 'begin isolation level repeatable read')
      expect(unwrap(await scene.service.recordTurn({ ...working, ...scene.turn() })).session.progress.turns).toBe(2)
    })
  },
)

describe('no proof that the store was set back', () => {
  it('is what was read from a replica that lags', async () => {
    await using rewindable = await openRewindable('memory')
    const scene = new Scene({ store: rewindable.store, passTime: async () => {} })
    await using late = await openRewindable('memory')
    const behind = new Scene({ store: late.store, passTime: async () => {} })
    const worked = await scene.work(await scene.session(), 'read')
    // History is read where less has arrived; commands go to the primary.
    const { sessions, handoffs, conversations, messages } = behind.store
    const store: Store = { ...scene.store, sessions, handoffs, conversations, messages }
    const [service, history] = [scene.serviceOver(store), scene.historyOver(store)]
    const recorded = unwrap(await service.recordTurn({ ...worked, ...scene.turn() }))
    expect(await history.session(recorded.session.id)).toBeUndefined()
    expect(unwrap(await service.recordTurn({ ...recorded, ...scene.turn() })).session.progress.turns).toBe(3)
  })

  it('is a command that the store has forgotten after its time', async () => {
    const clock = new FixedClock()
    const store = new MemoryStore({ clock })
    const scene = new Scene({ store, passTime: async (milliseconds) => clock.advance(milliseconds) })
    const asked = { originalTask: 'Fix it', commandId: commandId(scene.ids.next()) }
    const first = unwrap(await scene.service.openConversation(asked))
    await scene.passTime(2 * 3_600_000)
    expect(await store.commands.prune(3_600_000, 100)).toBe(1)
    expect(unwrap(await scene.service.openConversation(asked)).conversation.id).not.toBe(first.conversation.id)
  })

  it('is a session of another store', async () => {
    const [one, other] = [0, 1].map(
      () => new Scene({ store: new MemoryStore({ clock: new FixedClock() }), passTime: async () => {} }),
    ) as [Scene, Scene]
    const worked = await one.work(await one.session(), 'read')
    expect(refusal(await other.service.recordTurn({ ...worked, ...one.turn() })).code).toBe('session.not_found')
  })
})

describe('a transaction of the caller', () => {
  it('notices a store that was set back, with a look outside of it', async () => {
    await using rewindable = await openRewindable('postgres')
    const scene = new Scene({ store: rewindable.store, passTime: async () => {} })
    const copied = await scene.work(await scene.session(), 'read')
    await rewindable.keepCopy()
    const worked = await scene.work(copied, 'edit')
    await rewindable.setBack()
    const client = new pg.Client({ connectionString: rewindable.connectionString })
    await client.connect()
    await client.query('begin')
    const { session, holder } = worked
    const inside = scene.service.with(client).recordTurn({ session: session.id, holder, ...scene.turn() })
    await expect(inside).rejects.toMatchObject({ code: 'store.set_back' })
    await client.end()
    expect((await scene.store.sessions.find(session.id))?.progress.turns).toBe(1)
  })
})
