import type { AgentRuntime, Launch } from '../../../ports/agent/agent-runtime.ts'
import type { Environment } from '../../../ports/system/environment.ts'
import { type AgentSdk, type SdkMessage, type SdkOwnOptions, type SdkPrompt, sdkPrompt } from './sdk-module.ts'
import { directoryOf, launchOptions, questionOptions, type SdkDefaults } from './sdk-options.ts'
import { sdkRuns } from './sdk-runs.ts'
import { hasSession, transcriptOf } from './session-file.ts'
import { replyOf } from './session-reply.ts'

/** Options of the runtime; everything has a default. */
export interface AgentSdkRuntimeOptions<Message extends SdkMessage = SdkMessage> {
  /** The SDK's module. Loaded by its name when it is first needed unless given. */
  readonly sdk?: AgentSdk<Message>
  /** The model of launches that name none. */
  readonly model?: string
  /**
   * Options of the SDK's `query`, passed on as they are. A launch's directory and model come before these. With no `env`
   * the agent sees the variables of our process, without those that lead to the store.
   */
  readonly options?: Readonly<Record<string, unknown>>
  /** Whether the runtime compacts by itself; as its own settings say unless given. A question never compacts. */
  readonly autoCompact?: boolean
  /** Whether parts of answers are passed on while they come; they are not unless given here or in `options`. */
  readonly includePartialMessages?: boolean
}

/**
 * Runs agents with the Claude Agent SDK, an optional package: `npm install @anthropic-ai/claude-agent-sdk`.
 *
 * Name the SDK's own type of messages, `agentSdkRuntime<SDKMessage>()`, to have steps carry it. Where the package is
 * missing, steps and questions reject with an error whose code is `runtime.missing`.
 *
 * @example
 * ```ts
 * async function* said() {
 *   yield { type: 'result', subtype: 'success', result: 'Done.', session_id: 's' }
 * }
 * const query = () => Object.assign(said(), { interrupt: async () => {}, close: () => {} })
 * const runtime = agentSdkRuntime({ sdk: { query }, model: 'claude-sonnet-4-5' }) // without `sdk` it takes the package
 * const agent = runtime.start({ prompt: 'Fix the flaky test', signal: new AbortController().signal })
 * const follow = async () => {
 *   for await (const { message, end } of agent.steps) console.log(message?.type, end?.type) // => result idle
 * }
 * await follow()
 * ```
 */
export const agentSdkRuntime = <Message extends SdkMessage = SdkMessage>({
  sdk,
  ...defaults
}: AgentSdkRuntimeOptions<Message> = {}): AgentRuntime<Message> => {
  const passesPartials = defaults.includePartialMessages ?? defaults.options?.includePartialMessages === true
  const run = sdkRuns(sdk, passesPartials)
  return {
    backend: 'claude_agent_sdk',
    takesSessionId: true,
    takesTools: true,
    reportsWindow: true,
    start: (launch) => run(sdkPrompt(launch.prompt), startOptions(defaults, launch), launch),
    resume: ({ providerSessionId: resume, ...launch }) =>
      run(sdkPrompt(launch.prompt), { ...launchOptions(defaults, launch), resume }, launch),
    has: ({ providerSessionId, ...place }) =>
      hasSession(providerSessionId, environmentOf(defaults), directoryOf(place)),
    transcript: ({ providerSessionId }) => transcriptOf(providerSessionId, environmentOf(defaults)),
    ask: (question) => {
      const prompt: SdkPrompt = { ...sdkPrompt(question.prompt), client_composed: true }
      return replyOf(run(prompt, questionOptions(defaults, question), question), question)
    },
  }
}

const environmentOf = ({ options }: SdkDefaults): Environment =>
  (options?.env as Environment | undefined) ?? process.env

const startOptions = (defaults: SdkDefaults, { providerSessionId: sessionId, ...launch }: Launch): SdkOwnOptions => ({
  ...launchOptions(defaults, launch),
  ...(sessionId !== undefined && { sessionId }),
})
