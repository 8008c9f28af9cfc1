import type { Launch, RuntimeQuestion } from '../../../ports/agent/agent-runtime.ts'
import { INSTALLED_TOOLS, mcpServersOf, toolNamesOf } from './claude-tools.ts'

/** Settings of all launches of a command. */
export interface CommandDefaults {
  readonly model?: string
  readonly permissionMode?: string
  readonly settings?: Readonly<Record<string, unknown>>
  readonly autoCompact?: boolean
  readonly includePartialMessages?: boolean
  readonly args?: readonly string[]
  readonly takesInput?: boolean
}

/** One JSON message to a line. The prompt is read from the input, so that nothing of it is taken for an option. */
const PRINT: readonly string[] = ['-p', '--output-format=stream-json', '--verbose']

/** Each option with its value in one word, so that no value is taken for an option. */
const option = (name: string, value: string | undefined): readonly string[] =>
  value === undefined ? [] : [`--${name}=${value}`]

/** The arguments of a launch. What was given for all comes first, so that the launch's own facts win. */
export const launchArgs = (defaults: CommandDefaults, launch: Pick<Launch, 'model' | 'tools'>): readonly string[] => {
  const { args = [], autoCompact, permissionMode, takesInput = true } = defaults
  const settings = { ...defaults.settings, ...(autoCompact !== undefined && { autoCompactEnabled: autoCompact }) }
  return [
    ...args,
    ...PRINT,
    // Then something can be said to it while it works.
    ...(takesInput ? ['--input-format=stream-json'] : []),
    ...option('model', launch.model ?? defaults.model),
    ...option('permission-mode', permissionMode),
    ...option('settings', Object.keys(settings).length === 0 ? undefined : JSON.stringify(settings)),
    // Only the parts of an answer have its final count.
    '--include-partial-messages',
    ...toolArgs(launch.tools),
  ]
}

/** Beside the servers and the permissions that the person has given: both options may come more than once. */
const toolArgs = (tools: Launch['tools']): readonly string[] =>
  tools === undefined
    ? []
    : [
        ...option('mcp-config', JSON.stringify({ mcpServers: mcpServersOf(tools) })),
        ...option('allowedTools', toolNamesOf(tools).join(',')),
        ...option('disallowedTools', INSTALLED_TOOLS.join(',')),
      ]

/**
 * The arguments of a question: the old session, read and not written, with no tool, no hook, no compaction and one
 * request. Extra arguments are left out, because one of them might give it a tool.
 */
export const questionArgs = (defaults: CommandDefaults, question: RuntimeQuestion): readonly string[] => [
  ...PRINT,
  ...option('resume', question.providerSessionId),
  ...option('model', question.model ?? defaults.model),
  ...option('settings', JSON.stringify({ ...defaults.settings, autoCompactEnabled: false, disableAllHooks: true })),
  ...['--tools=', '--strict-mcp-config', '--max-turns=1', '--permission-mode=dontAsk', '--no-session-persistence'],
]

/** The arguments of a new session, or of one to resume. */
export const sessionArg = (name: 'session-id' | 'resume', id: string | undefined): readonly string[] => option(name, id)
