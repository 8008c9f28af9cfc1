import type { AgentRuntime, Launch } from '../../../ports/agent/agent-runtime.ts'
import type { Environment } from '../../../ports/system/environment.ts'
import { agentEnvironment, withToolsToken } from '../../../processes/agent-environment.ts'
import { compactionPoint } from '../settings/compaction-point.ts'
import { checkDirectory } from './claude-process.ts'
import { ClaudeRun } from './claude-run.ts'
import { type CommandDefaults, launchArgs, questionArgs, sessionArg } from './command-args.ts'
import { openCommand } from './command-source.ts'
import type { SdkMessage } from './sdk-module.ts'
import { directoryOf, withoutBlockingLimit } from './sdk-options.ts'
import { hasSession, transcriptOf } from './session-file.ts'
import { replyOf } from './session-reply.ts'

/** Options of the runtime; everything has a default. */
export interface ClaudeCommandRuntimeOptions {
  /** The command, by name or path; `claude` unless given. */
  readonly command?: string
  /** Further arguments of launches. A question has none of them. */
  readonly args?: readonly string[]
  /**
   * The variables of the command, all of them. Unless given it is those of our process, since it is the user's own command,
   * without those that lead to the store, such as `BATONPASS_DATABASE_URL` and `PGPASSWORD`.
   */
  readonly env?: Readonly<Record<string, string | undefined>>
  /** The model of launches that name none. */
  readonly model?: string
  /** The command's own mode of asking for permission, such as `acceptEdits`. Questions are never given any. */
  readonly permissionMode?: string
  /** Settings of the command, beside the user's own; for questions as well. */
  readonly settings?: Readonly<Record<string, unknown>>
  /** Whether the command compacts by itself; as its own settings say unless given. A question never compacts. */
  readonly autoCompact?: boolean
  /** Whether parts of answers are passed on while they come; they are not unless given. */
  readonly includePartialMessages?: boolean
  /**
   * Whether the command reads JSON lines while it works (`--input-format=stream-json`), so that it can be told to bring its
   * work to a soft landing; it does unless this is false. For a wrapper that reads its input to the end, say false.
   */
  readonly takesInput?: boolean
}

/** How a command is run: a question is asked once, and nothing is said after it. */
interface RunManner {
  readonly isResumed: boolean
  readonly isOpen?: boolean
}

/**
 * Runs agents with the `claude` command, as `claude -p` with a stream of JSON. It tells its window with its result only.
 *
 * Where the command is missing, steps and questions reject with an error whose code is `runtime.missing`.
 *
 * @example
 * ```ts
 * const said = JSON.stringify({ type: 'result', subtype: 'success', result: 'Done.', session_id: 's' })
 * // In earnest there is no `command`, and it is `claude` that runs.
 * const runtime = claudeCommandRuntime({ command: process.execPath, args: ['-e', `console.log('${said}')`, '--'] })
 * const agent = runtime.start({ prompt: 'Fix the flaky test', signal: new AbortController().signal })
 * const follow = async () => {
 *   for await (const { message, end } of agent.steps) console.log(message?.type, end?.type) // => result idle
 * }
 * await follow()
 * ```
 */
export const claudeCommandRuntime = (options: ClaudeCommandRuntimeOptions = {}): AgentRuntime<SdkMessage> => {
  const { command = 'claude', env = agentEnvironment(process.env), ...rest } = options
  const defaults: CommandDefaults = rest
  const isOff = (options.autoCompact ?? options.settings?.autoCompactEnabled) === false
  const run = (
    launch: Pick<Launch, 'prompt' | 'signal' | 'workspace' | 'onProcess' | 'tools'>,
    args: readonly string[],
    { isResumed, isOpen = defaults.takesInput !== false }: RunManner,
  ) =>
    new ClaudeRun({
      signal: launch.signal,
      isResumed,
      known: compactionPoint(env, { isOff }),
      passesPartials: defaults.includePartialMessages === true,
      open: async () => {
        const cwd = directoryOf(launch)
        checkDirectory(cwd)
        const variables = withToolsToken(withoutBlockingLimit(env), launch.tools?.token)
        const start = { command, args, cwd, env: variables, onProcess: launch.onProcess }
        return openCommand(start, { prompt: launch.prompt, isOpen })
      },
    })
  return {
    backend: 'claude_code',
    takesSessionId: true,
    takesTools: true,
    reportsWindow: true,
    start: (launch) =>
      run(launch, [...launchArgs(defaults, launch), ...sessionArg('session-id', launch.providerSessionId)], {
        isResumed: false,
      }),
    resume: (launch) =>
      run(launch, [...launchArgs(defaults, launch), ...sessionArg('resume', launch.providerSessionId)], {
        isResumed: true,
      }),
    has: ({ providerSessionId, ...place }) =>
      hasSession(providerSessionId, env satisfies Environment, directoryOf(place)),
    transcript: ({ providerSessionId }) => transcriptOf(providerSessionId, env),
    ask: (question) => {
      const how = { isResumed: true, isOpen: false }
      return replyOf(run(question, questionArgs(defaults, question), how), question)
    },
  }
}
