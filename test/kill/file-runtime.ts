import { randomUUID } from 'node:crypto'
import { appendFileSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { WindowEvent } from '../../src/domain/window/window-event.ts'
import type {
  AgentRuntime,
  Launch,
  Resumption,
  RunningAgent,
  RuntimeQuestion,
  RuntimeReply,
  RuntimeStep,
} from '../../src/ports/agent/agent-runtime.ts'
import type { Plan, PlannedTurn } from './kill-point.ts'

/** A session of the runtime, as its file says. */
export interface ProviderSession {
  readonly id: string
  readonly key: string
  readonly window: number
  /** How many of the planned turns it has played, and how many turns in all. */
  readonly planned: number
  readonly said: number
  readonly promptTokens: number
}

/** Something a runtime was asked for, in whatever process. */
export type RuntimeRequest = { readonly key: string; readonly session: string; readonly prompt: string } & (
  | { readonly what: 'start' | 'resume'; readonly window: number }
  | { readonly what: 'ask'; readonly promptTokens: number }
)

/** Tells what an agent of this run is to do. The runtime knows its own by these words. */
export const taskOf = (key: string): string => `Do all of the work of run <${key}>.`

const WINDOW = 1_000
/** What an agent does first that goes on in a session whose process was lost. */
const LOOK_FIRST = 1

/** What a folder holds of runtimes: what is planned, what was launched, and how far it came. */
export class RuntimeFolder {
  readonly #folder: string

  constructor(folder: string) {
    this.#folder = folder
    mkdirSync(join(folder, 'plans'), { recursive: true })
    mkdirSync(join(folder, 'sessions'), { recursive: true })
  }

  keepPlan(plan: Plan): void {
    writeFileSync(join(this.#folder, 'plans', `${plan.key}.json`), JSON.stringify(plan))
  }

  plan(key: string): Plan {
    return JSON.parse(readFileSync(join(this.#folder, 'plans', `${key}.json`), 'utf8')) as Plan
  }

  /** Whole or not at all, as a runtime would keep it. */
  keep(session: ProviderSession): void {
    const path = this.#pathOf(session.id)
    writeFileSync(`${path}.new`, JSON.stringify(session))
    renameSync(`${path}.new`, path)
  }

  session(id: string): ProviderSession | undefined {
    const path = this.#pathOf(id)
    return existsSync(path) ? (JSON.parse(readFileSync(path, 'utf8')) as ProviderSession) : undefined
  }

  sessionsOf(key: string): readonly ProviderSession[] {
    const names = readdirSync(join(this.#folder, 'sessions')).filter((name) => name.endsWith('.json'))
    return names
      .flatMap((name) => this.session(name.slice(0, -'.json'.length)) ?? [])
      .filter((session) => session.key === key)
  }

  log(request: RuntimeRequest): void {
    appendFileSync(join(this.#folder, 'requests.jsonl'), `${JSON.stringify(request)}\n`)
  }

  requestsOf(key: string): readonly RuntimeRequest[] {
    const path = join(this.#folder, 'requests.jsonl')
    const lines = existsSync(path) ? readFileSync(path, 'utf8').trim().split('\n') : []
    return lines.map((line) => JSON.parse(line) as RuntimeRequest).filter((request) => request.key === key)
  }

  #pathOf(id: string): string {
    return join(this.#folder, 'sessions', `${id}.json`)
  }
}

/** What a file runtime can do, and what happens inside it. */
export interface FileRuntimeOptions {
  readonly folder: RuntimeFolder
  readonly takesSessionId: boolean
  readonly canResume: boolean
  /** Waited for after a launch or a question was noted, and before anything is said. */
  readonly inside?: (moment: 'launching' | 'asking') => Promise<void>
}

/** Runs agents that play their plan and keep everything in files, so that another process goes on where one was killed. */
export class FileRuntime implements AgentRuntime<string> {
  readonly backend: string
  readonly takesSessionId: boolean
  readonly resume?: (launch: Resumption) => RunningAgent<string>
  readonly #folder: RuntimeFolder
  readonly #inside: NonNullable<FileRuntimeOptions['inside']>

  constructor({ folder, takesSessionId, canResume, inside = async () => undefined }: FileRuntimeOptions) {
    this.backend = `file, ${takesSessionId ? 'named' : 'unnamed'}, ${canResume ? 'resuming' : 'never resuming'}`
    this.takesSessionId = takesSessionId
    this.#folder = folder
    this.#inside = inside
    if (canResume) this.resume = (launch) => this.#running(launch, () => this.#again(launch))
  }

  start(launch: Launch): RunningAgent<string> {
    return this.#running(launch, () => this.#fresh(launch))
  }

  async has({ providerSessionId }: { readonly providerSessionId: string }): Promise<boolean> {
    return (this.#folder.session(providerSessionId)?.said ?? 0) > 0
  }

  async ask({ providerSessionId, prompt }: RuntimeQuestion): Promise<RuntimeReply> {
    const session = this.#known(providerSessionId)
    const { key, window, promptTokens, said } = session
    this.#folder.log({ what: 'ask', key, session: session.id, prompt, promptTokens })
    await this.#inside('asking')
    const text = `<checkpoint>## Completed work\n- Window ${window} of run ${key} is done [call:${callId(session.id, said, 0)}]</checkpoint>`
    return { text, totals: { inputTokens: promptTokens, outputTokens: 20, requests: 1 } }
  }

  #known(id: string): ProviderSession {
    const session = this.#folder.session(id)
    if (session === undefined || session.said === 0) throw new Error(`There is no session ${id}, or it never spoke.`)
    return session
  }

  #fresh({ prompt, providerSessionId }: Launch): { readonly session: ProviderSession; readonly turns: Turns } {
    const id = (this.takesSessionId ? providerSessionId : undefined) ?? `provider-${randomUUID()}`
    const key = /run <([^>]+)>/.exec(prompt)?.[1] ?? ''
    const window = this.#windowFor(key, prompt)
    this.#folder.log({ what: 'start', key, session: id, prompt, window })
    if ((this.#folder.session(id)?.said ?? 0) > 0) throw new Error(`Session ${id} is in use already.`)
    const session = { id, key, window, planned: 0, said: 0, promptTokens: 0 }
    this.#folder.keep(session)
    return { session, turns: this.#plannedIn(session) }
  }

  #again({ prompt, providerSessionId }: Resumption): { readonly session: ProviderSession; readonly turns: Turns } {
    const session = this.#known(providerSessionId)
    const { key, window, promptTokens } = session
    this.#folder.log({ what: 'resume', key, session: session.id, prompt, window })
    const look = { promptTokens, tools: LOOK_FIRST, isPlanned: false }
    // A window that is full is full still: the first answer says so.
    return { session, turns: [look, ...this.#plannedIn(session)] }
  }

  /** The window after the one whose checkpoint came with the prompt; without one, the one that was last worked in. */
  #windowFor(key: string, prompt: string): number {
    const done = [...prompt.matchAll(/Window (\d+) of run/g)].at(-1)?.[1]
    return done === undefined
      ? Math.max(0, ...this.#folder.sessionsOf(key).map(({ window }) => window))
      : Number(done) + 1
  }

  #plannedIn({ key, window, planned }: ProviderSession): Turns {
    const turns = this.#folder.plan(key).windows[window] ?? []
    return turns.slice(planned).map((turn) => ({ ...turn, isPlanned: true }))
  }

  #running(
    { signal }: Launch,
    begin: () => { readonly session: ProviderSession; readonly turns: Turns },
  ): RunningAgent<string> {
    const stopping = new AbortController()
    const steps = this.#steps(begin, AbortSignal.any([signal, stopping.signal]))
    return { steps, interrupt: async () => stopping.abort() }
  }

  async *#steps(
    begin: () => { readonly session: ProviderSession; readonly turns: Turns },
    signal: AbortSignal,
  ): AsyncGenerator<RuntimeStep<string>> {
    let { session, turns } = begin()
    const { id: providerSessionId, key } = session
    await this.#inside('launching')
    const size: WindowEvent = { type: 'window', tokens: WINDOW }
    const { isAnnounced } = this.#folder.plan(key)
    if (isAnnounced) yield { providerSessionId, events: [size], texts: [] }
    const totals = { inputTokens: 0, outputTokens: 0, requests: 0 }
    const before = session.said
    for (const { promptTokens, tools, isPlanned } of turns) {
      if (signal.aborted)
        return yield { providerSessionId, events: [], texts: [], end: { type: 'interrupted' }, totals }
      const said = session.said + 1
      session = { ...session, said, planned: session.planned + Number(isPlanned), promptTokens }
      this.#folder.keep(session)
      totals.inputTokens += promptTokens
      totals.outputTokens += 10
      totals.requests += 1
      const isFirst = said === before + 1
      for (const step of stepsOf(session, { promptTokens, tools }))
        yield isFirst && !isAnnounced ? { ...step, events: [size, ...step.events] } : step
    }
    const type = signal.aborted ? ('interrupted' as const) : ('idle' as const)
    yield { providerSessionId, events: [], texts: [], end: { type }, totals }
  }
}

type Turns = readonly (PlannedTurn & { readonly isPlanned: boolean })[]

const callId = (session: string, said: number, index: number): string => `${session}.${said}.${index}`

const stepsOf = (
  { id, said }: ProviderSession,
  { promptTokens, tools }: PlannedTurn,
): readonly RuntimeStep<string>[] => {
  const text = `Turn ${said} of ${id}`
  const calls = Array.from({ length: tools }, (_, index) => ({
    type: 'tool_call' as const,
    callId: callId(id, said, index),
    toolName: 'work',
  }))
  const request = { type: 'request' as const, key: `${id}.${said}`, promptTokens, outputTokens: 10 }
  const answer: RuntimeStep<string> = {
    message: text,
    providerSessionId: id,
    events: [request, ...calls],
    texts: [{ role: 'assistant', text }],
  }
  const results = calls.map(
    (): RuntimeStep<string> => ({
      message: 'ok',
      providerSessionId: id,
      events: [{ type: 'appended', characters: 2 }],
      texts: [{ role: 'tool', text: 'ok' }],
    }),
  )
  return [answer, ...results]
}
