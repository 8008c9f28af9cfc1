import { describe, expect, it } from 'vitest'
import { createBatonpass, type RunRequest } from '../../src/entry/index.ts'
import { FixedClock } from '../../src/entry/testing.ts'
import { play, script, turn } from '../runner/played.ts'

const HOUR_MS = 3_600_000

/** Asks an agent twice in one conversation, two hours apart. @returns how each launch began, and why the second was fresh */
const askedTwice = async (config: object, more: Partial<RunRequest> = {}) => {
  const clock = new FixedClock()
  await using batonpass = await createBatonpass({ store: 'memory', config, clock })
  const runtime = script([{ turns: [{ ...turn(100, 'read'), rests: true }, turn(200)] }])
  await play(batonpass, runtime, { conversation: 'thread-1', prompt: 'Fix the flaky test', ...more })
  clock.advance(2 * HOUR_MS)
  const { events } = await play(batonpass, runtime, { conversation: 'thread-1', prompt: 'Now the docs', ...more })
  const freshBecause = events.flatMap((event) => (event.type === 'conversation:follow_up' ? [event.freshBecause] : []))
  return { launches: runtime.launches.map(({ how }) => how), freshBecause }
}

const FRESH = { launches: ['start', 'start'], freshBecause: ['mode_fresh'] }
const RESUMED = { launches: ['start', 'resume'], freshBecause: [null] }
const TOO_OLD = { launches: ['start', 'start'], freshBecause: ['too_old'] }

const AGENTS = {
  session: { mode: 'fresh' },
  agents: [
    { name: 'writer', session: { mode: 'persistent' } },
    { name: 'reviewer', session: { mode: 'persistent', timeout: '1h' } },
    { name: 'tester' },
  ],
}

describe('the session settings of a configuration', () => {
  it.each([
    ['resume the session when nothing is said', {}, RESUMED],
    ['start each prompt fresh with session.mode fresh', { session: { mode: 'fresh' } }, FRESH],
    ['leave a session that is older than session.timeout', { session: { timeout: '1h' } }, TOO_OLD],
    ['resume a session within session.timeout', { session: { timeout: '3h' } }, RESUMED],
  ])('%s', async (_, config, expected) => {
    expect(await askedTwice(config)).toEqual(expected)
  })

  it.each([
    ['writer', RESUMED],
    ['reviewer', TOO_OLD],
    ['tester', FRESH],
    ['one that is not listed', FRESH],
  ])('are those of the agent where it has its own: %s', async (agent, expected) => {
    expect(await askedTwice(AGENTS, { agent })).toEqual(expected)
  })

  it('give way to what a run says', async () => {
    expect(await askedTwice(AGENTS, { agent: 'writer', sessionMode: 'fresh' })).toEqual(FRESH)
    expect(await askedTwice(AGENTS, { sessionMode: 'persistent' })).toEqual(RESUMED)
  })
})
