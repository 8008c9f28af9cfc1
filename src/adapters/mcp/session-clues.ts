import type { AgentSession } from '../../domain/session/agent-session.ts'
import { PROVIDER_SESSION, type TerminalRuntime } from '../../ports/terminal/terminal-files.ts'
import type { HandoffHistory } from '../../services/history/handoff-history.ts'
import type { Caller } from './tool.ts'

/** Everything that tells which session calls. */
export interface SessionClues {
  /** The session that the person named. */
  readonly named?: string
  /** The only runtime that is meant. */
  readonly runtime?: TerminalRuntime
  /** The session that a start hook noted for the process which started this server. */
  readonly ofProcess: () => string | undefined
  readonly environment: Readonly<Record<string, string | undefined>>
  readonly workingFolder: string
}

/** Enough for the sessions that one person has open. */
const MOST_LOOKED_AT = 200
const BACKENDS: Readonly<Record<TerminalRuntime, string>> = { claude: 'claude_code', codex: 'codex' }

/**
 * The names of the caller's session, from the first that knows: the person, the client's own words beside a call (Codex),
 * the process that started this server, or the environment it was started with (Claude; after `/clear` an old one).
 */
export const sessionNames = (clues: SessionClues, { meta }: Caller): readonly string[] | undefined => {
  const { named, runtime, environment } = clues
  if (named !== undefined) return [named]
  const ofClient = [meta.threadId, meta.sessionId].filter(isName)
  if (runtime !== 'claude' && ofClient.length > 0) return ofClient
  if (runtime === 'codex') return undefined
  const found = [clues.ofProcess(), environment.CLAUDE_CODE_SESSION_ID].find(isName)
  return found === undefined ? undefined : [found]
}

const isName = (value: unknown): value is string => typeof value === 'string' && PROVIDER_SESSION.test(value)

/** The unfinished sessions of this folder, two at most: a third would tell no more. */
export const sessionsHere = async (
  history: HandoffHistory,
  { runtime, workingFolder }: SessionClues,
): Promise<readonly AgentSession[]> => {
  const { items } = await history.unfinishedSessions({ limit: MOST_LOOKED_AT })
  const here: AgentSession[] = []
  for (const { session } of items) {
    if (here.length === 2) break
    if (runtime !== undefined && session.backend !== BACKENDS[runtime]) continue
    const conversation = await history.conversation(session.conversationId)
    if (conversation?.workspace?.workingDirectory === workingFolder) here.push(session)
  }
  return here
}
