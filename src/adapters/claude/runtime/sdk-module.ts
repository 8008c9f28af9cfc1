import type { ChildProcessWithoutNullStreams } from 'node:child_process'
import { RuntimeFailure } from '../../../ports/agent/runtime-failure.ts'
import type { ClaudeMcpServer } from './claude-tools.ts'

/** Any message of the SDK. */
export interface SdkMessage {
  readonly type: string
}

/** The form in which a prompt is sent. */
export interface SdkPrompt {
  type: 'user'
  message: { role: 'user'; content: string }
  parent_tool_use_id: null
  /** The text is taken as written: what looks like a command or a file in it is neither. */
  client_composed?: true
  /** When false, it is heard with the next tool result and leads to no answer of its own. */
  shouldQuery?: false
}

/** A text as it is sent to an agent. */
export const sdkPrompt = (content: string): SdkPrompt => ({
  type: 'user',
  message: { role: 'user', content },
  parent_tool_use_id: null,
})

/** Something said to an agent at work. Should it be done by then, it is not made to work on. */
export const asideOf = (content: string): SdkPrompt => ({
  ...sdkPrompt(content),
  client_composed: true,
  shouldQuery: false,
})

/** How the SDK wants its command to be started. */
export interface SdkSpawn {
  readonly command: string
  readonly args: readonly string[]
  readonly cwd?: string | undefined
  readonly env: Readonly<Record<string, string | undefined>>
}

/** The options we set ourselves. Others are passed on as they are given. */
export interface SdkOwnOptions {
  model?: string
  cwd?: string
  env?: Record<string, string | undefined>
  sessionId?: string
  resume?: string
  forkSession?: boolean
  persistSession?: boolean
  includePartialMessages?: boolean
  settings?: { autoCompactEnabled?: boolean; disableAllHooks?: boolean }
  tools?: string[]
  allowedTools?: string[]
  disallowedTools?: string[]
  mcpServers?: Record<string, ClaudeMcpServer>
  maxTurns?: number
  permissionMode?: 'dontAsk'
  allowDangerouslySkipPermissions?: boolean
  strictMcpConfig?: boolean
  systemPrompt?: string
  settingSources?: ('user' | 'project' | 'local')[]
  spawnClaudeCodeProcess?: (start: SdkSpawn) => ChildProcessWithoutNullStreams
}

/** A query of the SDK, as far as it is used. */
export interface SdkQuery<Message> extends AsyncIterable<Message> {
  interrupt(): Promise<unknown>
  getContextUsage?(options: { detail: 'summary' }): Promise<unknown>
  close(): void
}

/** The Claude Agent SDK, as far as it is used. `test/agents` holds it against the SDK's own types. */
export interface AgentSdk<Message extends SdkMessage = SdkMessage> {
  readonly query: (request: { prompt: AsyncIterable<SdkPrompt>; options: SdkOwnOptions }) => SdkQuery<Message>
}

const PACKAGE = '@anthropic-ai/claude-agent-sdk'

/**
 * Loads the SDK, which is optional: a program that does not use this runtime need not install its hundreds of
 * megabytes.
 */
export const loadAgentSdk = async <Message extends SdkMessage>(
  load: (name: string) => Promise<unknown> = (name) => import(name),
): Promise<AgentSdk<Message>> => {
  try {
    return (await load(PACKAGE)) as AgentSdk<Message>
  } catch (cause) {
    const message = `The package ${PACKAGE} could not be loaded. It is optional, and this runtime needs it: npm install ${PACKAGE}`
    throw new RuntimeFailure('runtime.missing', message, { cause })
  }
}
