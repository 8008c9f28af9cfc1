import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import type { AgentRuntime } from '../../src/ports/agent/agent-runtime.ts'
import { environmentOf, RUNTIMES } from './claude-stage.ts'
import { codexAt } from './codex-stage.ts'
import { ASKS, EMPTY, says } from './kill-grid.ts'
import { type Answer, startMessagesApi } from './messages-api.ts'
import { never } from './patience.ts'
import { type CodexAnswer, startResponsesApi } from './responses-api.ts'
import { DONE_BOTH, type Doing, SAID_FIRST } from './transfer-grid.ts'

/** Where an agent of the grid lives: its home, and the API that plays it. */
export interface Place {
  readonly backend: string
  readonly home: string
  readonly url: string
}

/** An agent on its stage. */
export interface Played extends Place {
  /** All that its requests sent so far; questions are none of them. */
  readonly sent: readonly string[]
}

/** What an API of the grid goes by. */
export interface Playing {
  readonly backend: string
  readonly next: (known: string) => Doing
  /** Waited for before anything is said to a request, or to a question. */
  readonly before: (what: 'turn' | 'question', gone: AbortSignal) => Promise<void>
  readonly numberedAfter: number
}

const HANDS_OVER = { to: 'coder', reason: 'The first word is said.' }
const WAITS = 'This should not be needed.'
const textOf = (doing: Doing): string => (doing === 'is done' ? DONE_BOTH : 'Nothing to add.')

/** The runtime of an agent that lives there. */
export const runtimeAt = ({ backend, home, url }: Place): AgentRuntime => {
  if (backend === 'codex') return codexAt(url, home)
  const make = RUNTIMES[backend]
  if (make === undefined) throw new Error(`There is no runtime ${backend}`)
  return make(environmentOf(home, url))
}

/** The agents of a cell, as a run or a worker takes them. */
export const castAt = (places: readonly Place[]) => {
  const memberAt = (place: Place) => ({
    runtime: runtimeAt(place),
    ...(place.backend === 'codex' && { model: 'gpt-5.5' }),
  })
  const [planner, coder] = places
  if (planner === undefined || coder === undefined) throw new Error('A transfer needs two agents')
  return { planner: memberAt(planner), coder: memberAt(coder) }
}

/** Sets an agent up: a home of its own, and an API that plays it. */
export const setUp = async (t: TestContext, playing: Playing): Promise<Played> => {
  const sent: string[] = []
  const api = await (playing.backend === 'codex' ? codexApi(playing, sent) : claudeApi(playing, sent))
  const home = mkdtempSync(join(tmpdir(), 'batonpass-transfer-'))
  t.after(async () => {
    await api[Symbol.asyncDispose]()
    rmSync(home, { recursive: true, force: true, maxRetries: 10 })
  })
  return { backend: playing.backend, home, url: api.url, sent }
}

const claudeApi = ({ next, before, numberedAfter }: Playing, sent: string[]) => {
  const answerTo = (known: string): Answer => {
    sent.push(known)
    const doing = next(known)
    const after = (gone: AbortSignal) => before('turn', gone)
    if (typeof doing === 'object') return { tool: says(doing.word), usage: EMPTY, after }
    if (doing === 'hands over')
      return { tool: { name: 'mcp__baton_run__handoff', input: HANDS_OVER }, usage: EMPTY, after }
    if (doing === 'waits') return { text: WAITS, usage: EMPTY, after: never }
    return { text: textOf(doing), usage: EMPTY, after }
  }
  const question = { prompt: ASKS, text: SAID_FIRST, usage: EMPTY }
  return startMessagesApi({
    play: ({ messages }) => answerTo(JSON.stringify(messages)),
    question: { ...question, after: (gone) => before('question', gone) },
    numberedAfter,
  })
}

const USED = { input: 12_000, cached: 0, output: 40 }

const codexApi = ({ next, before }: Playing, sent: string[]) =>
  startResponsesApi(async (known, gone): Promise<CodexAnswer> => {
    if (known.includes(ASKS)) {
      await before('question', gone)
      return { text: SAID_FIRST, ...USED }
    }
    sent.push(known)
    const doing = next(known)
    if (doing === 'waits') await never(gone)
    await before('turn', gone)
    if (typeof doing === 'object') return { command: says(doing.word).input.command, ...USED }
    if (doing === 'hands over') return { tool: { server: 'baton_run', name: 'handoff', input: HANDS_OVER }, ...USED }
    return { text: textOf(doing), ...USED }
  })
