import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { unwrap } from '../../src/domain/unwrap.ts'
import { HandoffService } from '../../src/services/handoff-service.ts'
import { Stage } from './stage.ts'

let stage: Stage

beforeAll(async () => {
  stage = await Stage.open()
})
afterAll(() => stage[Symbol.asyncDispose]())

/** A service whose notifier and log write down what they are told, and a turn that gives them something. */
const listening = async () => {
  const { scene, store } = stage
  const told: string[] = []
  const say = (_: object, message: string): void => void told.push(message)
  const service = new HandoffService({
    store,
    clock: scene.clock,
    ids: scene.ids,
    notifier: { notify: ({ milestone }) => void told.push(`signal ${milestone}`) },
    logger: { debug: () => {}, info: say, warn: say, error: say },
    telemetry: { measure: (all) => void told.push(`counted ${all.map(({ type }) => type).join()}`) },
  })
  const monitor = { contextLimit: 100_000, policy: 'auto' } as const
  const working = await scene.session(scene.name('claude-code'), undefined, { monitor })
  const usage = { state: 'metered', promptTokens: 90_000, outputTokens: 500 } as const
  return { service, told, working, turn: { ...working, ...scene.turn('read_file'), usage } }
}

describe('the news of commands', () => {
  it('waits for the commit, and is told once', async () => {
    const { service, told, turn, working } = await listening()
    const handoffs = await stage.withClient(async ({ client }) => {
      const inside = service.with(client)
      expect(unwrap(await inside.recordTurn(turn)).handoff).toBeDefined()
      expect(await inside.committed()).toBe(false)
      return { inside }
    })
    expect(told).toEqual([])
    expect(await handoffs.inside.committed()).toBe(true)
    const counted = 'counted turn,handoff,window'
    expect(told).toEqual([counted, expect.stringMatching(/^a restart is due/), 'signal restart'])
    await handoffs.inside.committed()
    expect(told).toHaveLength(3)
    expect((await stage.store.signals.waiting(working.session.id)).map(({ milestone }) => milestone)).toEqual([
      'restart',
    ])
  })

  it('is not told after a rollback, even if somebody says that it was committed', async () => {
    const { service, told, turn, working } = await listening()
    let inside: ReturnType<HandoffService['with']> | undefined
    const undone = stage.withClient(async ({ client }) => {
      inside = service.with(client)
      unwrap(await inside.recordTurn(turn))
      throw new Error('Undone')
    })
    await expect(undone).rejects.toThrow('Undone')
    expect(await inside?.committed()).toBe(false)
    expect(told).toEqual([])
    expect(await stage.store.signals.waiting(working.session.id)).toEqual([])
  })
})
