import { appendFileSync, existsSync, readdirSync, readFileSync } from 'node:fs'
import { setTimeout as wait } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { RolloutFollower } from '../../src/adapters/codex/runtime/rollout-follower.ts'
import { codexRuntime } from '../../src/entry/codex.ts'
import type { RunningAgent } from '../../src/ports/agent/agent-runtime.ts'
import {
  all,
  call,
  completed,
  fakeCodex,
  hang,
  item,
  message,
  output,
  rolloutPath,
  type Script,
  type Step,
  started,
  THREAD,
  temporaryHome,
  tokenCount,
  write,
} from '../support/fake-codex.ts'

const launch = { prompt: 'Do it.', signal: new AbortController().signal }

const start = (script: (rollout: string) => Script) => {
  const home = temporaryHome()
  const fake = fakeCodex(script(rolloutPath(home)))
  return { fake, run: codexRuntime({ sdk: fake.sdk, home }).start(launch) }
}

const ran = item('item.completed', { type: 'command_execution', aggregated_output: 'done' })
const reads = ({ events }: Step): readonly number[] =>
  events.flatMap((event) => (event.type === 'request' ? [event.promptTokens] : []))
const calls = ({ events }: Step): readonly (string | undefined)[] =>
  events.flatMap((event) => (event.type === 'tool_call' ? [event.callId] : []))

/** Stops a run when it tells its first reading, as a runner does whose window is full. */
const untilRead = async (run: RunningAgent<unknown>, said: string[]): Promise<Step['end']> => {
  let end: Step['end']
  for await (const step of run.steps as AsyncIterable<Step>) {
    said.push(...reads(step).map((tokens) => `read ${tokens}`), ...calls(step).map((id) => `called ${id}`))
    end = step.end
    if (reads(step).length > 0) await run.interrupt()
  }
  return end
}

describe('a reading that is written after the event it belongs to', () => {
  it.each([
    ['at once', 0],
    ['a while later', 100],
  ])('%s is told before the next answer, which takes 25 seconds', async (_, lateMs) => {
    const said: string[] = []
    const { run, fake } = start((rollout) => [
      started,
      () => write(rollout, message('user', 'Do it.'), call('call_1'), output('call_1')),
      ran,
      () => void setTimeout(() => write(rollout, tokenCount(900, 10, [900, 10])), lateMs),
      async (signal) => {
        await wait(25_000, undefined, { signal })
        said.push('answered')
      },
      ran,
    ])
    expect(await untilRead(run, said)).toEqual({ type: 'interrupted' })
    expect(said).toEqual(['called call_1', 'read 900'])
    expect(fake.runs[0]?.isGone).toBe(true)
  })

  it('is told when the rollout itself comes after the last event, too', async () => {
    const said: string[] = []
    const { run } = start((rollout) => [
      started,
      () => void setTimeout(() => write(rollout, call('call_1'), output('call_1'), tokenCount(900, 10, [900, 10])), 50),
      (signal) => wait(25_000, undefined, { signal }),
      () => said.push('answered'),
    ])
    expect(await untilRead(run, said)).toEqual({ type: 'interrupted' })
    expect(said).toEqual(['called call_1', 'read 900'])
  })

  it('is told in the order it was written, and once, however it is written', async () => {
    const records = Array.from({ length: 60 }, (_, index) => [
      ...[call(`call_${index}`), output(`call_${index}`), message('assistant', 'é'.repeat(1 + index * 50))],
      tokenCount(100 + index, 10, [1_000 * (index + 1), 10]),
    ]).flat()
    const bytes = Buffer.from(records.map((record) => `${JSON.stringify(record)}\n`).join(''))
    const { run } = start((rollout) => [
      started,
      () => write(rollout),
      async () => {
        // Pieces that end in the middle of a line, and of a letter; some at once, some after a pause.
        for (let from = 0, size = 1; from < bytes.length; from += size, size = ((size * 7) % 4_001) + 1) {
          appendFileSync(rollout, bytes.subarray(from, from + size))
          if (size % 3 === 0) await wait(1)
        }
      },
      completed(60_000, 10),
    ])
    const steps = await all(run)
    expect(steps.flatMap(reads)).toEqual(Array.from({ length: 60 }, (_, index) => 100 + index))
    expect(steps.flatMap(calls)).toEqual(Array.from({ length: 60 }, (_, index) => `call_${index}`))
    const said = steps.flatMap(({ texts }) => texts).filter(({ role }) => role === 'assistant')
    expect(said.map(({ text }) => text)).toEqual(Array.from({ length: 60 }, (_, index) => 'é'.repeat(1 + index * 50)))
  })

  it('and is the last of its turn does not interrupt work that is done', async () => {
    const said: string[] = []
    const { run } = start((rollout) => [
      started,
      () => write(rollout, message('assistant', 'Done.')),
      item('item.completed', { text: 'Done.' }),
      () => write(rollout, tokenCount(900, 10, [900, 10]), { type: 'event_msg', payload: { type: 'task_complete' } }),
      // As long as it takes to be noticed.
      (signal) => wait(700, undefined, { signal }),
      completed(900, 10),
    ])
    expect(await untilRead(run, said)).toEqual({ type: 'idle' })
    expect(said).toEqual(['read 900'])
  })

  it('and seemed to be the last of its turn is told when the work goes on', async () => {
    const said: string[] = []
    const { run } = start((rollout) => [
      started,
      () => write(rollout, message('assistant', 'Done.'), tokenCount(900, 10, [900, 10])),
      () => void setTimeout(() => write(rollout, message('user', 'Not yet: run the tests.')), 20),
      (signal) => wait(25_000, undefined, { signal }),
      () => said.push('answered'),
    ])
    expect(await untilRead(run, said)).toEqual({ type: 'interrupted' })
    expect(said).toEqual(['read 900'])
  })

  it('is told though Codex wrote of other limits between the tool and it', async () => {
    const said: string[] = []
    const limits = { type: 'event_msg', payload: { type: 'token_count', info: null, rate_limits: {} } }
    const { run } = start((rollout) => [
      started,
      () => write(rollout, call('call_1'), output('call_1'), limits, tokenCount(900, 10, [900, 10])),
      (signal) => wait(25_000, undefined, { signal }),
      () => said.push('answered'),
    ])
    expect(await untilRead(run, said)).toEqual({ type: 'interrupted' })
    expect(said).toEqual(['called call_1', 'read 900'])
  })
})

/** How many files this process lets the system watch. */
const watched = (): number =>
  readdirSync('/proc/self/fdinfo')
    .map((descriptor) => `/proc/self/fdinfo/${descriptor}`)
    .flatMap((path) => (existsSync(path) ? readFileSync(path, 'utf8').match(/^inotify /gm) : null) ?? []).length

describe('a rollout that was followed', () => {
  it('is read once more when Codex has gone: what it wrote while it was stopped is told', async () => {
    const said: string[] = []
    const { run } = start((rollout) => [
      started,
      () => write(rollout, call('call_1'), output('call_1'), tokenCount(900, 10, [900, 10])),
      (signal) =>
        hang(signal).catch(async (reason: unknown) => {
          await wait(20)
          write(rollout, call('call_2'))
          throw reason
        }),
    ])
    expect(await untilRead(run, said)).toEqual({ type: 'interrupted' })
    expect(said).toEqual(['called call_1', 'read 900', 'called call_2'])
  })

  it.skipIf(!existsSync('/proc/self/fdinfo')).each(['to its end', 'until it is left', 'until it fails'])(
    '%s is not watched any more',
    async (how) => {
      const before = watched()
      let during = 0
      const { run, fake } = start((rollout) => [
        started,
        () => write(rollout, call('call_1'), output('call_1'), tokenCount(900, 10, [900, 10])),
        (signal) => (how === 'until it is left' ? hang(signal) : wait(300, undefined, { signal })),
        ...(how === 'until it fails' ? [() => Promise.reject(new Error('No key'))] : [completed(900, 10)]),
      ])
      for await (const step of run.steps) {
        during = Math.max(during, watched())
        if (how === 'until it is left' && reads(step).length > 0) break
      }
      expect(during).toBe(before + 1)
      expect(watched()).toBe(before)
      expect(fake.runs[0]?.isGone).toBe(true)
    },
  )
})

it('a rollout that two look for at once is read once', async () => {
  for (let attempt = 0; attempt < 50; attempt += 1) {
    const home = temporaryHome()
    write(rolloutPath(home), message('user', 'Do it.'))
    const follower = new RolloutFollower(home)
    follower.follow(THREAD)
    const grown = follower.grown()
    const read: unknown[] = []
    for await (const record of follower.gained()) read.push(record)
    follower.close()
    await grown
    for await (const record of follower.gained()) read.push(record)
    expect(read).toHaveLength(1)
  }
})
