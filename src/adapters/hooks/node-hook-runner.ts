import type { HookResult } from '../../domain/hooks/hook-result.ts'
import { hookName } from '../../domain/hooks/hook-selection.ts'
import type { HookSettings } from '../../domain/hooks/hook-settings.ts'
import { defined } from '../../domain/kernel/defined.ts'
import type { HookPayload } from '../../ports/agent/hook-payload.ts'
import type { HookOptions, HookRunner } from '../../ports/agent/hook-runner.ts'
import type { Environment } from '../../ports/system/environment.ts'
import { AllowedNetworks } from './allowed-networks.ts'
import { capped } from './capped-output.ts'
import { type Deadline, deadlineIn } from './deadline.ts'
import { failed, type Outcome } from './outcome.ts'
import { type AddressLookup, systemLookup } from './safe-lookup.ts'
import type { NetworkAccess } from './send.ts'
import { runShell } from './shell-hook.ts'
import { SLACK_API, writeToSlack } from './slack-channel.ts'
import { passedOn } from './variables.ts'
import { runWeb } from './web-hook.ts'

/** Options of a hook runner; everything has a default. */
export interface NodeHookRunnerOptions {
  /** Where `${NAME}` and the variables of commands come from; the process's own unless given. */
  readonly environment?: Environment
  /** Variables that commands see beside the usual few, by name. Their values are kept out of results. */
  readonly passVariables?: readonly string[]
  /** How names become addresses. The addresses are checked in any case. */
  readonly lookup?: AddressLookup
  /** Private networks that webhooks may reach, such as `10.20.0.0/16`; none unless given, and link-local ones never. */
  readonly allowNetworks?: readonly string[]
  /** Where Slack's methods are called; Slack itself unless given. */
  readonly slackApi?: string
}

/**
 * Calls hooks from a Node process: commands, requests, messages and functions.
 *
 * @example
 * ```ts
 * const runner = new NodeHookRunner()
 * const hook = { moment: 'after_run', type: 'shell', command: 'exit 3', shouldContinueOnError: true, timeoutMs: 5_000 } as const
 * const result = await runner.run(hook, {
 *   hook_event_name: 'completed',
 *   run: { duration_ms: 61_000, handoff_count: 0, error: null },
 *   session: hookSession({ sessionId: 's-1', agentName: 'claude-code' }),
 *   original_prompt: 'Fix the flaky test',
 * })
 * if (!result.ok) console.log(result.exitCode, result.error.message) // => 3 It ended with exit code 3.
 * ```
 */
export class NodeHookRunner implements HookRunner {
  readonly #environment: Environment
  readonly #passVariables: readonly string[]
  readonly #access: NetworkAccess

  readonly #slackApi: string

  /** @throws ConfigurationError when a network cannot be allowed */
  constructor(options: NodeHookRunnerOptions = {}) {
    const { environment = process.env, passVariables = [], lookup = systemLookup, allowNetworks } = options
    this.#environment = environment
    this.#passVariables = passVariables
    this.#access = { lookup, allowed: new AllowedNetworks(allowNetworks) }
    this.#slackApi = options.slackApi ?? SLACK_API
  }

  async run(hook: HookSettings, payload: HookPayload, { signal }: HookOptions = {}): Promise<HookResult> {
    const startedAt = performance.now()
    using deadline = deadlineIn(hook.timeoutMs, signal)
    const { error, ...trace } = await this.#call(hook, payload, deadline).catch(unforeseen)
    const durationMs = Math.round(performance.now() - startedAt)
    const about = { name: hookName(hook), type: hook.type, ...defined(trace), durationMs }
    return error === undefined ? { ...about, ok: true } : { ...about, ok: false, error }
  }

  async #call(hook: HookSettings, payload: HookPayload, deadline: Deadline): Promise<Outcome> {
    switch (hook.type) {
      case 'shell':
        return runShell(hook, payload, deadline, {
          environment: passedOn(this.#environment, this.#passVariables),
          secrets: this.#passVariables.map((name) => this.#environment[name] ?? ''),
        })
      case 'webhook':
      case 'slack':
      case 'discord':
        if ('channelId' in hook) {
          const surroundings = { environment: this.#environment, access: this.#access, slackApi: this.#slackApi }
          return writeToSlack(hook, payload, deadline, surroundings)
        }
        return runWeb(hook, payload, deadline, { environment: this.#environment, access: this.#access })
      case 'function':
        return runFunction(hook, payload, deadline)
      default:
        return hook satisfies never
    }
  }
}

/** Without its message, which may say anything. */
const unforeseen = (error: unknown): Outcome =>
  failed('hook.not_started', `It could not be called (${error instanceof Error ? error.name : 'no reason given'}).`)

type FunctionHook = Extract<HookSettings, { type: 'function' }>

/** Calls a function. A function that still runs after its deadline is no longer listened to: nothing can end it from outside. */
const runFunction = async (hook: FunctionHook, payload: HookPayload, deadline: Deadline): Promise<Outcome> => {
  const { signal } = deadline
  if (signal.aborted) return deadline.outcome()
  const call = async (): Promise<Outcome> => {
    // A copy: a hook that writes into its payload must not change what the next one is told.
    const returned = await hook.run(structuredClone(payload), { signal })
    return { output: capped(asText(returned)) }
  }
  const isOver = new Promise<Outcome>((resolve) => {
    signal.addEventListener('abort', () => resolve(deadline.outcome()), { once: true })
  })
  return Promise.race([call().catch(thrown), isOver])
}

const asText = (returned: unknown): string =>
  typeof returned === 'string' ? returned : (JSON.stringify(returned) ?? '')

const thrown = (error: unknown): Outcome =>
  failed('hook.threw', error instanceof Error ? capped(error.message) : 'It threw something that is not an error.')
