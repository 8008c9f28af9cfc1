import { defined } from '../../domain/kernel/defined.ts'
import type {
  AgentRuntime,
  Launch,
  Resumption,
  RunningAgent,
  RuntimeQuestion,
  RuntimeReply,
  TranscriptStep,
} from '../../ports/agent/agent-runtime.ts'
import { identityOf, newMark } from '../../processes/left-process.ts'
import { type CodexPlace, placeOf } from './codex-environment.ts'
import { ANSWER_ONLY, answerOf, withoutTools } from './codex-question.ts'
import { CodexRun } from './codex-run.ts'
import {
  type CodexEvent,
  type CodexOptions,
  type CodexSdk,
  type CodexThreadOptions,
  loadCodexSdk,
} from './codex-sdk.ts'
import { withTools } from './codex-tools.ts'
import { findRollout, hasBeenSpokenIn, writtenIn } from './rollout-file.ts'
import { RolloutFollower } from './rollout-follower.ts'

/** How Codex is run. */
export interface CodexRuntimeOptions<Event extends CodexEvent = CodexEvent> {
  /** For `new Codex(…)`. Without `env` the agent finds paths, language and proxies of ours, and no key or token: give it `apiKey`, or let it sign in. */
  readonly codex?: CodexOptions
  /** For every thread. The model and the directory of a launch come before these. */
  readonly thread?: CodexThreadOptions
  /** Codex's own folder, `CODEX_HOME`; otherwise the one its environment leads to. */
  readonly home?: string
  /** The loaded `@openai/codex-sdk`; otherwise it is loaded when first needed. */
  readonly sdk?: CodexSdk<Event>
}

/**
 * Runs Codex through its SDK, `@openai/codex-sdk`, an optional package.
 *
 * The SDK's events say nothing of the window, so the readings come from the rollout that Codex writes beside them; so
 * do texts and tool calls. Without a rollout these come from the events, and there are no readings.
 *
 * A question goes to the same thread, and stays in it. Codex cannot be told to have no tools at all: its own are
 * switched off as far as it lets us, the sandbox is read-only, nothing is approved, and an answer during which a tool
 * was used is stopped and thrown away. What that cannot prevent is a call of an MCP server from Codex's own
 * `config.toml`, which may have begun by then.
 *
 * @throws RuntimeFailure from the steps, `runtime.missing`, when the package is not there
 * @example
 * ```ts
 * const runtime = codexRuntime({ thread: { sandboxMode: 'workspace-write', approvalPolicy: 'never' } })
 * console.log(runtime.backend) // => codex
 * ```
 */
export const codexRuntime = <Event extends CodexEvent = CodexEvent>(
  options: CodexRuntimeOptions<Event> = {},
): Required<Omit<AgentRuntime<Event>, 'reportsCost'>> => new CodexRuntime(options)

class CodexRuntime<Event extends CodexEvent> implements Required<Omit<AgentRuntime<Event>, 'reportsCost'>> {
  readonly backend = 'codex'
  readonly takesSessionId = false
  readonly takesTools = true
  readonly reportsWindow = true
  readonly #options: CodexRuntimeOptions<Event>
  readonly #place: CodexPlace

  constructor(options: CodexRuntimeOptions<Event>) {
    this.#options = options
    this.#place = placeOf(options.codex, options.home)
  }

  start(launch: Launch): RunningAgent<Event> {
    return new CodexRun(launch, async () => {
      const { Codex } = await this.#sdk()
      const thread = new Codex(await marked(await this.#withTools(launch), launch)).startThread(this.#threadOf(launch))
      return { thread, follower: new RolloutFollower(this.#place.home) }
    })
  }

  resume(launch: Resumption): RunningAgent<Event> {
    return this.#resume(launch, this.#withTools(launch), this.#threadOf(launch))
  }

  async has({ providerSessionId }: { readonly providerSessionId: string }): Promise<boolean> {
    const path = await findRollout(this.#place.home, providerSessionId, { days: Number.POSITIVE_INFINITY })
    return path !== undefined && (await hasBeenSpokenIn(path))
  }

  transcript({ providerSessionId }: { readonly providerSessionId: string }): AsyncIterable<TranscriptStep> {
    return writtenIn(this.#place.home, providerSessionId)
  }

  ask(question: RuntimeQuestion): Promise<RuntimeReply> {
    const options = { ...this.#threadOf(question), ...ANSWER_ONLY }
    return answerOf(this.#resume(question, withoutTools(this.#place.codex), options), question)
  }

  #resume(
    launch: RuntimeQuestion,
    codex: CodexOptions | Promise<CodexOptions>,
    options: CodexThreadOptions,
  ): RunningAgent<Event> {
    return new CodexRun(launch, async () => {
      const { Codex } = await this.#sdk()
      const follower = await RolloutFollower.ofResumed(this.#place.home, launch.providerSessionId)
      const marks = await marked(await codex, launch)
      return { thread: new Codex(marks).resumeThread(launch.providerSessionId, options), follower }
    })
  }

  #withTools({ tools }: Pick<Launch, 'tools'>): Promise<CodexOptions> {
    return withTools(this.#place.codex, tools, this.#place.home)
  }

  #threadOf({ model, workspace }: Pick<Launch, 'model' | 'workspace'>): CodexThreadOptions {
    const workingDirectory = workspace?.worktreePath ?? workspace?.workingDirectory
    return { ...this.#options.thread, ...defined({ model, workingDirectory }) }
  }

  async #sdk(): Promise<CodexSdk<Event>> {
    return this.#options.sdk ?? ((await loadCodexSdk()) as CodexSdk<Event>)
  }
}

/** The same options, with a mark in the environment that whatever the SDK starts is known by. It is on record first. */
const marked = async (codex: CodexOptions, { onProcess }: Pick<Launch, 'onProcess'>): Promise<CodexOptions> => {
  const { mark, environment } = newMark()
  const identity = identityOf(mark)
  if (identity === undefined || onProcess === undefined) return codex
  await onProcess(identity)
  return { ...codex, env: { ...codex.env, ...environment } }
}
