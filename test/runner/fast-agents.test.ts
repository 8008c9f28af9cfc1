import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { commandRuntime } from '../../src/adapters/runtime/command-runtime.ts'
import { systemClock } from '../../src/entry/container.ts'
import { type AgentRuntime, createBatonpass } from '../../src/entry/index.ts'
import { MemoryStore } from '../../src/entry/memory.ts'
import { windowReaders } from '../../src/main/runtimes.ts'
import { meddledStore } from '../support/meddled-store.ts'
import { play, recorded, sleep, spoken } from './played.ts'

const WINDOW_READERS = await windowReaders()

/** Each answer takes the agent this long, and each commit its record twice that. */
const ANSWER_MS = 150
const COMMIT_MS = 300
const MOST = 20
/** A dollar and a half each, by the list price that is given to the run. */
const USAGE = { input_tokens: 100, output_tokens: 50 }
const priceOf = (_: string, used: { readonly inputTokens: number; readonly outputTokens: number }): number =>
  (used.inputTokens + used.outputTokens) / 100

/** A program that answers steadily, whether or not somebody reads, and a count of the requests that it has made. */
const fastAgent = (): { readonly runtime: AgentRuntime; readonly made: () => number } => {
  const folder = mkdtempSync(join(tmpdir(), 'batonpass-fast-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true, maxRetries: 10 }))
  const log = join(folder, 'requests')
  writeFileSync(log, '')
  const program = `
    const { appendFileSync } = require('node:fs')
    const say = (number) => {
      if (number > ${MOST}) return
      appendFileSync(${JSON.stringify(log)}, '.')
      const content = [{ type: 'text', text: 'Answer ' + number + '.' }]
      const message = { id: 'msg_' + number, model: 'house-model', content, usage: ${JSON.stringify(USAGE)} }
      console.log(JSON.stringify({ type: 'assistant', session_id: 's', parent_tool_use_id: null, message }))
      setTimeout(say, ${ANSWER_MS}, number + 1)
    }
    say(1)`
  writeFileSync(join(folder, 'agent.cjs'), program)
  const command = [process.execPath, join(folder, 'agent.cjs')]
  return { runtime: commandRuntime({ command, readers: WINDOW_READERS }), made: () => readFileSync(log).length }
}

const slowly = async () => {
  const store = new MemoryStore({ clock: systemClock })
  const batonpass = await createBatonpass({ store: meddledStore(store, () => sleep(COMMIT_MS)), priceOf })
  return { store, batonpass }
}

describe('an agent that is faster than its record', () => {
  it('is over its cap by no more than the request in flight, and all it said is on record', async () => {
    const { store, batonpass } = await slowly()
    const { runtime, made } = fastAgent()
    const budget = { maxRestarts: 3, whenExhausted: 'stop', maxCostUsd: 3 } as const
    const { summary, messages } = await play(batonpass, runtime, { budget, model: 'house-model' })
    expect(summary).toMatchObject({ outcome: 'exhausted', limit: 'cost' })
    expect(made()).toBeGreaterThanOrEqual(2)
    expect(made()).toBeLessThanOrEqual(3)
    expect((await spoken(store, summary)).slice(1)).toHaveLength(messages.length)
    const { sessions } = await recorded(batonpass, summary)
    expect(sessions).toMatchObject([{ state: 'paused', totals: { requests: messages.length } }])
  })

  it('has no more turns than it may', async () => {
    const { batonpass } = await slowly()
    const { runtime, made } = fastAgent()
    const { summary } = await play(batonpass, runtime, { maxTurns: 2 })
    expect(summary).toMatchObject({ outcome: 'exhausted', limit: 'turns' })
    // Where no tool is used, only the next answer shows that the last turn is over.
    expect(made()).toBeLessThanOrEqual(4)
  })

  it('keeps what was read of it and not passed on when the run is left', async () => {
    const { store, batonpass } = await slowly()
    const { runtime } = fastAgent()
    const run = batonpass.run({ runtime, agent: 'fast', prompt: 'Go', maxTurns: 15 })
    const messages: unknown[] = []
    for await (const message of run) {
      messages.push(message)
      if (messages.length === 2) {
        await sleep(4 * ANSWER_MS)
        break
      }
    }
    const summary = await run.summary
    expect(summary.outcome).toBe('cancelled')
    expect((await spoken(store, summary)).slice(1).length).toBeGreaterThan(messages.length)
  })
})
