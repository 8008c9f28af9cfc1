import { randomUUID } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { MemoryStore } from '../../src/adapters/memory/memory-store.ts'
import { systemClock } from '../../src/adapters/system/system-clock.ts'
import type { Store } from '../../src/ports/store/store.ts'
import { leaves, left, Terminal, worked } from './handing.ts'
import { Stage } from './stage.ts'

/** A store whose process dies at one of its commits: before it, or after it was kept and before anybody heard of it. */
class Mortal {
  readonly store: Store
  kept: string[] = []
  #left = Number.POSITIVE_INFINITY
  #isAfter = false

  constructor(inner: Store) {
    const { unitOfWork } = inner
    const commit: typeof unitOfWork.commit = async (unit) => {
      if (this.#left <= 0) throw new Error('killed')
      this.#left -= 1
      if (this.#left === 0 && !this.#isAfter) throw new Error('killed')
      this.kept.push(unit.events[0]?.type ?? 'nothing')
      const outcome = await unitOfWork.commit(unit)
      if (this.#left === 0) throw new Error('killed')
      return outcome
    }
    const load: typeof unitOfWork.load = (question, command) => unitOfWork.load(question, command)
    const meddled = { load, commit, estimateNow: () => unitOfWork.estimateNow() }
    this.store = new Proxy(inner, { get: (of, name) => (name === 'unitOfWork' ? meddled : Reflect.get(of, name)) })
  }

  dieAt(commit: number, isAfter: boolean): void {
    this.#left = commit
    this.#isAfter = isAfter
    this.kept = []
  }

  live(): void {
    this.#left = Number.POSITIVE_INFINITY
  }
}

const scene = async () => {
  const mortal = new Mortal(new MemoryStore({ clock: systemClock }))
  const stage = new Stage({ store: mortal.store })
  const blue = await worked(stage)
  await leaves(stage, blue)
  await blue.ends('clear')
  const green = new Terminal(stage)
  await green.start('clear')
  await green.asks('Continue')
  green.transcript.answers('I continue.', 20_000)
  const commandId = randomUUID()
  const stops = () =>
    stage.hook('stop', { providerSessionId: green.id, transcriptPath: green.transcript.path }, { commandId })
  return { mortal, stage, blue, green, stops }
}

const expectDone = async ({ stage, blue, green }: Awaited<ReturnType<typeof scene>>): Promise<void> => {
  const [source, target] = [await blue.session(), await green.session()]
  expect(source?.state).toBe('handed_off')
  expect(target).toMatchObject({ state: 'active', epoch: 2, progress: { turns: 1 } })
  expect(target?.conversationId).toBe(source?.conversationId)
  const { items } = await stage.store.handoffs.listForConversation(target?.conversationId as never, { limit: 10 })
  expect(items).toMatchObject([{ status: 'completed', targetSessionId: target?.id }])
  const conversation = await stage.store.conversations.find(target?.conversationId as never)
  expect(conversation?.asked?.prompt).toBe('Continue')
  expect(left(stage)).toEqual([])
}

const COMMITS = ['handoff.initiated', 'handoff.accepted', 'conversation.asked', 'turn.recorded'] as const

describe('a service that is killed while a session takes a document up', () => {
  it('makes these commits', async () => {
    const at = await scene()
    await using stage = at.stage
    at.mortal.dieAt(Number.POSITIVE_INFINITY, false)
    await at.stops()
    expect(at.mortal.kept).toEqual(COMMITS)
    expect(stage.folder).toBeDefined()
    await expectDone(at)
  })

  const moments = COMMITS.flatMap((commit, index) => [
    ['before', commit, index + 1] as const,
    ['after', commit, index + 1] as const,
  ])

  it.each(moments)('%s %s: the event that comes again finishes it, once', async (moment, _, number) => {
    const at = await scene()
    await using stage = at.stage
    at.mortal.dieAt(number, moment === 'after')
    await expect(at.stops()).rejects.toThrow('killed')
    at.mortal.live()
    await stage.restart()
    await at.stops()
    await expectDone(at)
    await stage.restart()
    await at.stops()
    await expectDone(at)
  })

  it.each(moments.slice(0, 4))('%s %s: the next service finishes it without any event', async (moment, _, number) => {
    const at = await scene()
    await using stage = at.stage
    at.mortal.dieAt(number, moment === 'after')
    await expect(at.stops()).rejects.toThrow('killed')
    at.mortal.live()
    await stage.restart()
    await (await stage.open()).terminals.sweep()
    expect((await at.blue.session())?.state).toBe('handed_off')
    expect(left(stage)).toEqual([])
    await at.stops()
    await expectDone(at)
  })

  it.each(moments.slice(0, 2))(
    '%s %s: the source is not ended by an end that comes late',
    async (moment, _, number) => {
      const at = await scene()
      await using stage = at.stage
      at.mortal.dieAt(number, moment === 'after')
      await expect(at.stops()).rejects.toThrow('killed')
      at.mortal.live()
      await stage.restart()
      await at.blue.ends('logout')
      await at.stops()
      await expectDone(at)
    },
  )
})
