import { defined } from '../../../domain/kernel/defined.ts'
import type { Launch, RuntimeQuestion } from '../../../ports/agent/agent-runtime.ts'
import { agentEnvironment, withToolsToken } from '../../../processes/agent-environment.ts'
import { INSTALLED_TOOLS, mcpServersOf, toolNamesOf } from './claude-tools.ts'
import type { SdkOwnOptions } from './sdk-module.ts'

type Environment = Readonly<Record<string, string | undefined>>

/** Options of the SDK, whatever they are. */
export type SdkOptions = Readonly<Record<string, unknown>>

/** Settings of all launches of a runtime. */
export interface SdkDefaults {
  readonly model?: string
  readonly options?: SdkOptions
  readonly autoCompact?: boolean
  readonly includePartialMessages?: boolean
}

/** The directory a launch works in. */
export const directoryOf = ({ workspace }: Pick<Launch, 'workspace'>): string | undefined =>
  workspace?.worktreePath ?? workspace?.workingDirectory

/** The options of a launch. Its own facts come before what was given for all. */
export const launchOptions = (
  { options: given = {}, model, autoCompact }: SdkDefaults,
  launch: Omit<Launch, 'prompt' | 'signal'>,
): SdkOwnOptions => withTools(launchOptionsIn(withEnvironment(given), { model, autoCompact }, launch), launch.tools)

/** Given none, the SDK would pass on all of our environment, the store's password included. */
const withEnvironment = (options: SdkOptions): SdkOptions => ({
  ...options,
  env: withoutBlockingLimit((options.env as Environment | undefined) ?? agentEnvironment(process.env)),
})

const launchOptionsIn = (
  options: SdkOptions,
  { model, autoCompact }: { readonly model: string | undefined; readonly autoCompact: boolean | undefined },
  launch: Omit<Launch, 'prompt' | 'signal'>,
): SdkOwnOptions => ({
  ...options,
  ...defined({ model: launch.model ?? model, cwd: directoryOf(launch) }),
  // Only the parts of an answer have its final count.
  includePartialMessages: true,
  ...(autoCompact === undefined ? {} : withSettings(options, { autoCompactEnabled: autoCompact })),
})

/** The same options with the tools of a launch beside the caller's own. A caller's server of the same name gives way. */
const withTools = (options: SdkOwnOptions, tools: Launch['tools']): SdkOwnOptions =>
  tools === undefined
    ? options
    : {
        ...options,
        env: withToolsToken(options.env ?? {}, tools.token),
        mcpServers: { ...options.mcpServers, ...mcpServersOf(tools) },
        allowedTools: [...(options.allowedTools ?? []), ...toolNamesOf(tools)],
        disallowedTools: [...(options.disallowedTools ?? []), ...INSTALLED_TOOLS],
      }

/** Of these, a question has its own or none: what would answer for it, add to it, or give it something to use. */
const NOT_FOR_QUESTIONS: readonly string[] = [
  ...['agent', 'agents', 'canUseTool', 'continue', 'forkSession', 'hooks', 'includePartialMessages', 'maxTurns'],
  ...['mcpServers', 'outputFormat', 'permissionPromptToolName', 'plugins', 'resumeSessionAt', 'resumeDropsTurn'],
  ...['sessionId', 'skills', 'toolAliases'],
]

/**
 * The options of a question. The old session is resumed, so that the request carries its conversation, but the question
 * is not written into it: a process that resumes it, or looks at it later, finds it as the work left it. A session in a
 * store of its own cannot be read without being written, so that one is copied.
 */
export const questionOptions = (
  defaults: SdkDefaults,
  { providerSessionId, ...question }: RuntimeQuestion,
): SdkOwnOptions => {
  const given = Object.entries(defaults.options ?? {}).filter(([name]) => !NOT_FOR_QUESTIONS.includes(name))
  const options = withEnvironment(Object.fromEntries(given))
  const { includePartialMessages: _, ...launch } = launchOptions({ ...defaults, options }, question)
  const settings = withSettings(options, { autoCompactEnabled: false, disableAllHooks: true })
  return {
    ...launch,
    ...settings,
    env: withoutBlockingLimit(
      (settings.env ?? options.env ?? process.env) as Readonly<Record<string, string | undefined>>,
    ),
    ...(options.sessionStore === undefined ? { persistSession: false } : { forkSession: true }),
    resume: providerSessionId,
    tools: [],
    allowedTools: [],
    maxTurns: 1,
    permissionMode: 'dontAsk',
    allowDangerouslySkipPermissions: false,
    strictMcpConfig: true,
  }
}

/**
 * The options of a prompt that belongs to no session: it is answered once, with no tool, from nothing but itself. No
 * settings, no memory file and nothing of a session is read, and nothing is written.
 */
export const singleOptions = (defaults: SdkDefaults, systemPrompt: string, signal: AbortSignal): SdkOwnOptions => {
  const { sessionStore: _, ...options } = defaults.options ?? {}
  const question = { providerSessionId: '', prompt: '', signal }
  const { resume: __, ...single } = questionOptions({ ...defaults, options }, question)
  return { ...single, systemPrompt, settingSources: [] }
}

/** Settings may be an object, which is added to, or the name of a file, beside which a variable says the same. */
const withSettings = (
  { settings, env = process.env }: SdkOptions,
  added: NonNullable<SdkOwnOptions['settings']>,
): SdkOwnOptions => {
  if (typeof settings !== 'string') return { settings: { ...(settings as object | undefined), ...added } }
  const environment = env as Record<string, string | undefined>
  return added.autoCompactEnabled === false ? { env: { ...environment, DISABLE_AUTO_COMPACT: '1' } } : {}
}

/**
 * The variables of a launch or a question. With its compaction off the command refuses every prompt locally from about
 * 177,000 of 200,000 tokens (`blocking_limit`), before the API is asked. A restart milestone above that would never be
 * reached, and no checkpoint could be asked for, so that limit is lifted; whether a request fits, the API says.
 */
export const withoutBlockingLimit = <Environment extends Readonly<Record<string, string | undefined>>>(
  environment: Environment,
): Environment & { readonly CLAUDE_CODE_BLOCKING_LIMIT_OVERRIDE: string } => ({
  ...environment,
  CLAUDE_CODE_BLOCKING_LIMIT_OVERRIDE: '100000000',
})
