import { defined } from '../domain/kernel/defined.ts'
import { NO_TOTALS } from '../domain/run/run-summary.ts'
import type { WindowEvent } from '../domain/window/window-event.ts'
import type {
  AgentRuntime,
  Launch,
  Resumption,
  RunningAgent,
  RuntimeQuestion,
  RuntimeReply,
  RuntimeStep,
} from '../ports/agent/agent-runtime.ts'
import type { Script, ScriptedMessage, ScriptedTool, ScriptedTurn, ScriptedWindow } from './script.ts'

/** A launch that a scripted runtime was asked for. */
export interface ScriptedLaunch {
  readonly how: 'start' | 'resume'
  readonly session: string
  readonly prompt: string
  readonly workspace?: Launch['workspace']
  /** The tools that it was offered. */
  readonly tools?: Launch['tools']
}

interface Playing {
  readonly window: ScriptedWindow
  played: number
  isTold?: boolean
  heardAfter?: number
}

/**
 * An agent that does what a script says, and remembers what it was asked. For tests of whatever runs agents.
 *
 * @example
 * ```ts
 * const runtime = new ScriptedRuntime({ windows: [{ turns: [{ text: 'Hello.', promptTokens: 12, tools: ['look'] }] }] })
 * const { steps } = runtime.start({ prompt: 'Say hello', signal: new AbortController().signal })
 * for await (const { message } of steps) if (message !== undefined) console.log(message.role, message.text)
 * // => assistant Hello.
 * // => tool ok
 * console.log(runtime.launches[0]?.prompt) // => Say hello
 * ```
 */
export class ScriptedRuntime implements AgentRuntime<ScriptedMessage> {
  readonly backend: string
  readonly takesSessionId: boolean
  /** Its script says what a window costs, or nothing does. */
  readonly reportsCost: boolean
  readonly reportsWindow = true
  readonly takesTools: boolean
  readonly launches: ScriptedLaunch[] = []
  readonly questions: RuntimeQuestion[] = []
  /** Everything that was said to it at work. */
  readonly told: { readonly session: string; readonly text: string }[] = []
  readonly #script: Script
  readonly #sessions = new Map<string, Playing>()
  readonly resume?: (launch: Resumption) => RunningAgent<ScriptedMessage>

  constructor(script: Script) {
    this.#script = script
    this.backend = script.backend ?? 'scripted'
    this.takesSessionId = script.takesSessionId ?? true
    this.takesTools = script.takesTools ?? false
    this.reportsCost = script.windows.some(({ totals }) => totals?.costUsd !== undefined)
    if (script.canResume !== false) this.resume = (launch) => this.#play('resume', launch.providerSessionId, launch)
  }

  start(launch: Launch): RunningAgent<ScriptedMessage> {
    const named = this.takesSessionId ? launch.providerSessionId : undefined
    return this.#play('start', named ?? `scripted-${this.#sessions.size + 1}`, launch)
  }

  async has({ providerSessionId }: { readonly providerSessionId: string }): Promise<boolean> {
    return (this.#sessions.get(providerSessionId)?.played ?? 0) > 0
  }

  async ask(question: RuntimeQuestion): Promise<RuntimeReply> {
    this.questions.push(question)
    const {
      checkpoint = 'Nothing to say.',
      checkpointMs = 0,
      checkpointTotals: totals,
    } = this.#sessions.get(question.providerSessionId)?.window ?? {}
    if (totals !== undefined) question.onUsage?.(totals)
    await pause(checkpointMs, question.signal)
    if (checkpoint instanceof Error) throw checkpoint
    const text = typeof checkpoint === 'function' ? checkpoint(question.prompt) : checkpoint
    return { text, ...(totals !== undefined && { totals }) }
  }

  #play(how: ScriptedLaunch['how'], session: string, launch: Launch): RunningAgent<ScriptedMessage> {
    const { prompt, workspace, tools, signal } = launch
    this.launches.push({ how, session, prompt, ...defined({ workspace, tools }) })
    const playing = this.#sessionOf(session)
    const stopping = new AbortController()
    const steps = this.#steps(playing, session, AbortSignal.any([signal, stopping.signal]))
    const tell = async (text: string): Promise<void> => {
      this.told.push({ session, text })
      playing.isTold = true
    }
    return { steps, ...(this.#script.takesInput === true && { tell }), interrupt: async () => stopping.abort() }
  }

  #sessionOf(session: string): Playing {
    const existing = this.#sessions.get(session)
    if (existing !== undefined) return existing
    const window = this.#script.windows[this.#sessions.size] ?? this.#script.windows.at(-1) ?? { turns: [] }
    const playing = { window, played: 0 }
    this.#sessions.set(session, playing)
    return playing
  }

  async *#steps(playing: Playing, session: string, signal: AbortSignal): AsyncGenerator<RuntimeStep<ScriptedMessage>> {
    const { windowTokens } = this.#script
    const { window } = playing
    if (windowTokens !== undefined)
      yield await this.#say({ ...step(session), events: [{ type: 'window', tokens: windowTokens }] })
    const interrupted = { ...step(session), end: { type: 'interrupted' as const }, ...totalsOf(window) }
    for (let turns = turnsOf(playing); playing.played < turns.length; turns = turnsOf(playing)) {
      // A turn that is interrupted before it has begun is still to be played.
      if (signal.aborted) return yield interrupted
      const turn = turns[playing.played] as ScriptedTurn
      playing.played += 1
      for (const runtimeStep of stepsOf(turn, session, playing.played)) {
        if (signal.aborted) return yield interrupted
        yield await this.#say({ ...runtimeStep, ...(this.reportsCost && { totals: NOTHING_SPENT }) })
      }
      if (turn.rests === true) break
    }
    yield await this.#say({ ...step(session), end: window.end ?? { type: 'idle' }, ...totalsOf(window) })
  }

  async #say(runtimeStep: RuntimeStep<ScriptedMessage>): Promise<RuntimeStep<ScriptedMessage>> {
    await this.#script.onStep?.(runtimeStep)
    return runtimeStep
  }
}

const turnsOf = (playing: Playing): readonly ScriptedTurn[] => {
  const { turns, whenTold } = playing.window
  if (playing.isTold !== true || whenTold === undefined) return turns
  playing.heardAfter ??= playing.played
  return [...turns.slice(0, playing.heardAfter), ...whenTold]
}

/** A script says at its end what a window cost. Who reports costs says something with every answer. */
const NOTHING_SPENT = { ...NO_TOTALS, costUsd: 0 }

const totalsOf = ({ totals }: ScriptedWindow) => (totals === undefined ? {} : { totals })

const pause = (milliseconds: number, signal: AbortSignal): Promise<void> =>
  new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, milliseconds)
    signal.addEventListener('abort', () => {
      clearTimeout(timer)
      reject(signal.reason)
    })
  })

/** A step in which nothing was said. */
const step = (providerSessionId: string) => ({ providerSessionId, events: [], texts: [] })

/** The steps of one turn of a script. */
const stepsOf = (turn: ScriptedTurn, session: string, number: number): readonly RuntimeStep<ScriptedMessage>[] => {
  const {
    text,
    promptTokens,
    outputTokens = 0,
    tools = [],
    heard = [],
    afterCompaction = false,
    handsOver,
    delegates,
  } = turn
  const key = `${session}-${number}`
  const request: WindowEvent =
    promptTokens === undefined ? { type: 'unmetered' } : { type: 'request', key, promptTokens, outputTokens }
  const used = tools.map((tool): ScriptedTool => (typeof tool === 'string' ? { name: tool } : tool))
  const calls = used.map(({ name: toolName, argument }, index) =>
    defined({ type: 'tool_call' as const, callId: `${key}-${index + 1}`, toolName, argument }),
  )
  const spoken = (role: ScriptedMessage['role'], words: string): ScriptedMessage => ({ role, text: words, session })
  const compaction: readonly RuntimeStep<ScriptedMessage>[] = afterCompaction
    ? [
        { ...step(session), message: spoken('system', 'compacting'), events: [{ type: 'compacting', key }] },
        {
          ...step(session),
          message: spoken('system', 'compacted'),
          events: [{ type: 'compaction', trigger: 'auto', key }],
        },
      ]
    : []
  return [
    ...compaction,
    ...heard.map((input) => ({
      ...step(session),
      message: spoken('user', input.text),
      events: [{ type: 'appended' as const, characters: input.text.length }],
      texts: [{ role: 'user' as const, ...input }],
    })),
    {
      ...step(session),
      message: spoken('assistant', text),
      ...(promptTokens === undefined && { beginsTurn: true }),
      events: [request, ...calls],
      texts: [{ role: 'assistant', text }],
      ...(handsOver !== undefined && { asksTransfer: handsOver }),
      ...(delegates !== undefined && { asksThreads: delegates }),
    },
    ...used.map(({ result = 'ok' }, index) => ({
      ...step(session),
      message: spoken('tool', result),
      events: [{ type: 'appended' as const, characters: result.length }],
      texts: [{ role: 'tool' as const, text: result, ...defined({ id: calls[index]?.callId }) }],
    })),
  ]
}
