import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { ConfigurationError, createBatonpass } from '../../src/entry/index.ts'
import { MemoryStore } from '../../src/entry/memory.ts'
import { FixedClock } from '../../src/entry/testing.ts'
import { CommandPruner } from '../../src/services/commands/command-pruner.ts'
import { withParts } from '../faulty-stores/wrap.ts'

const HOUR = 3_600_000
const WEEK = 7 * 24 * HOUR

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

/** Commands of which so many are left to forget, and what was asked of them. */
const commandsLeft = (left: number) => {
  const asked: (readonly [keepMs: number, most: number])[] = []
  const prune = async (keepMs: number, most: number): Promise<number> => {
    asked.push([keepMs, most])
    const pruned = Math.min(left, most)
    left -= pruned
    return pruned
  }
  return { asked, prune, countPrunable: async () => left }
}

describe('a program that lives long', () => {
  it('forgets old commands about once an hour', async () => {
    const commands = commandsLeft(600)
    const pruner = new CommandPruner(commands, WEEK)
    await vi.advanceTimersByTimeAsync(HOUR / 2 - 1)
    expect(commands.asked).toEqual([])
    await vi.advanceTimersByTimeAsync(HOUR + 1)
    expect(commands.asked.slice(0, 2)).toEqual([
      [WEEK, 500],
      [WEEK, 500],
    ])
    const before = commands.asked.length
    await vi.advanceTimersByTimeAsync(1.5 * HOUR)
    expect(commands.asked.length).toBeGreaterThan(before)
    pruner.stop()
  })

  it('forgets ten thousand at once at most, and the rest another time', async () => {
    const commands = commandsLeft(1_000_000)
    const pruner = new CommandPruner(commands, WEEK)
    await vi.advanceTimersToNextTimerAsync()
    expect(commands.asked).toHaveLength(20)
    await vi.advanceTimersToNextTimerAsync()
    expect(commands.asked).toHaveLength(40)
    pruner.stop()
  })

  it('tries again after a failure, and never fails itself', async () => {
    let tries = 0
    const prune = async (): Promise<number> => {
      tries += 1
      throw new Error('the store is away')
    }
    const pruner = new CommandPruner({ prune, countPrunable: async () => 0 }, WEEK)
    await vi.advanceTimersByTimeAsync(5 * HOUR)
    expect(tries).toBeGreaterThan(2)
    pruner.stop()
  })

  it('keeps no process alive, and stops when it is told to', async () => {
    vi.useRealTimers()
    const timers = vi.spyOn(globalThis, 'setTimeout')
    const pruner = new CommandPruner(commandsLeft(1), WEEK)
    const made: NodeJS.Timeout | undefined = timers.mock.results[0]?.value
    expect(made?.hasRef()).toBe(false)
    pruner.stop()
    timers.mockRestore()
    vi.useFakeTimers()
    const commands = commandsLeft(1)
    new CommandPruner(commands, WEEK).stop()
    await vi.advanceTimersByTimeAsync(10 * HOUR)
    expect(commands.asked).toEqual([])
  })
})

describe('createBatonpass', () => {
  const storeWith = (commands: ReturnType<typeof commandsLeft>) =>
    withParts(new MemoryStore({ clock: new FixedClock() }), { commands })

  it.each([
    ['a week unless told otherwise', {}, WEEK],
    ['as long as code says', { commandRetentionMs: 2 * HOUR }, 2 * HOUR],
    ['as long as a configuration says', { config: { commands: { retention: '30d' } } }, 30 * 24 * HOUR],
    [
      'as long as code says, whatever a configuration says',
      { config: { commands: { retention: 'forever' } }, commandRetentionMs: 2 * HOUR },
      2 * HOUR,
    ],
  ])('remembers commands for %s', async (_, options, keepMs) => {
    const commands = commandsLeft(1)
    const batonpass = await createBatonpass({ ...options, store: storeWith(commands) })
    await vi.advanceTimersByTimeAsync(2 * HOUR)
    expect(commands.asked[0]).toEqual([keepMs, 500])
    const before = commands.asked.length
    await batonpass.close()
    await vi.advanceTimersByTimeAsync(10 * HOUR)
    expect(commands.asked).toHaveLength(before)
  })

  it.each([{ commandRetentionMs: false as const }, { config: { commands: { retention: 'forever' } } }])(
    'remembers them for ever with %j',
    async (options) => {
      const commands = commandsLeft(1)
      await using _ = await createBatonpass({ ...options, store: storeWith(commands) })
      await vi.advanceTimersByTimeAsync(10 * HOUR)
      expect(commands.asked).toEqual([])
    },
  )

  it.each([0, HOUR - 1, Number.NaN, 1.5 * HOUR + 0.5, -WEEK])('refuses to forget them after %d ms', async (ms) => {
    const opening = createBatonpass({ store: 'memory', commandRetentionMs: ms })
    await expect(opening).rejects.toBeInstanceOf(ConfigurationError)
    await expect(opening).rejects.toThrow(/commandRetentionMs: .*an hour at least/)
  })
})
