import type { AgentSession } from '../../domain/session/agent-session.ts'
import type { TerminalAgent } from '../../ports/agent/vendor.ts'
import { PROVIDER_SESSION } from '../../ports/terminal/terminal-files.ts'
import type { HandoffHistory } from '../../services/history/handoff-history.ts'
import type { Caller } from './tool.ts'

/** Everything that tells which session calls. */
export interface SessionClues {
  /** The session that the person named. */
  readonly named?: string
  /** The terminal agents there are. */
  readonly agents: readonly TerminalAgent[]
  /** The only one of them that is meant. */
  readonly runtime?: string
  /** The session that a start hook noted for the process which started this server. */
  readonly ofProcess: () => string | undefined
  readonly environment: Readonly<Record<string, string | undefined>>
  readonly workingFolder: string
}

/** Enough for the sessions that one person has open. */
const MOST_LOOKED_AT = 200

/**
 * The names of the caller's session, from the first that knows: the person, the client's own words beside a call where the
 * agent says them, the process that started this server, or the environment it was started with.
 */
export const sessionNames = (clues: SessionClues, { meta }: Caller): readonly string[] | undefined => {
  const { named, runtime, environment } = clues
  if (named !== undefined) return [named]
  const meant = clues.agents.filter(({ name }) => runtime === undefined || name === runtime)
  const besideCall = [meta.threadId, meta.sessionId].filter(isName)
  if (meant.some(({ namesSessionInCalls }) => namesSessionInCalls) && besideCall.length > 0) return besideCall
  if (meant.every(({ namesSessionInCalls }) => namesSessionInCalls)) return undefined
  const inVariables = meant.map(({ variables }) => environment[variables.session ?? ''])
  const found = [clues.ofProcess(), ...inVariables].find(isName)
  return found === undefined ? undefined : [found]
}

const isName = (value: unknown): value is string => typeof value === 'string' && PROVIDER_SESSION.test(value)

/** The unfinished sessions of this folder, two at most: a third would tell no more. */
export const sessionsHere = async (
  history: HandoffHistory,
  { agents, runtime, workingFolder }: SessionClues,
): Promise<readonly AgentSession[]> => {
  const { items } = await history.unfinishedSessions({ limit: MOST_LOOKED_AT })
  const backend = agents.find(({ name }) => name === runtime)?.backend
  const here: AgentSession[] = []
  for (const { session } of items) {
    if (here.length === 2) break
    if (runtime !== undefined && session.backend !== backend) continue
    const conversation = await history.conversation(session.conversationId)
    if (conversation?.workspace?.workingDirectory === workingFolder) here.push(session)
  }
  return here
}
