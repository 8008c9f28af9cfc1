import type { HandoffMetadata } from '../../domain/handoff/handoff.ts'
import { defined } from '../../domain/kernel/defined.ts'
import type { CommandId } from '../../domain/kernel/ids.ts'
import { err, ok } from '../../domain/kernel/result.ts'
import type { FollowedSession } from './followed-session.ts'
import type { Leaving, PendingDocuments } from './pending-documents.ts'
import type { TerminalDeps } from './terminal-deps.ts'
import type { TerminalReply } from './terminal-refusal.ts'

/** A handoff that an agent asks for itself. */
export interface HandoffAsked {
  readonly document?: string
  readonly reason?: string
  /** Who is to take over; the same agent in a fresh window unless named. */
  readonly targetAgent?: string
  readonly commandId?: CommandId
}

/** A document that waits for the next session, or a handoff that was begun and the file that its document is kept in. */
export type HandoffKept =
  | ({ readonly state: 'pending' } & Leaving)
  | { readonly state: 'initiated'; readonly handoff: HandoffMetadata; readonly path?: string }

/**
 * Takes the handoff that the agent of a terminal session asks for. To itself, it leaves a document for the next session of
 * the workspace; a handoff to another agent begins at once, and waits for that agent.
 */
export const requestHandoff = async (
  deps: TerminalDeps,
  documents: PendingDocuments,
  at: FollowedSession,
  asked: HandoffAsked,
): TerminalReply<HandoffKept> => {
  const { targetAgent = at.session.agentName } = asked
  if (targetAgent.trim() !== at.session.agentName) return transfer(deps, at, { ...asked, targetAgent })
  const left = await documents.leave(at, asked)
  return left.ok ? ok({ state: 'pending', ...left.value }) : left
}

const transfer = async (
  { handoffs, files }: TerminalDeps,
  at: FollowedSession,
  { document, reason, targetAgent, commandId }: HandoffAsked & { readonly targetAgent: string },
): TerminalReply<HandoffKept> => {
  const { holder } = at.kept
  if (holder === undefined) return err({ code: 'session.superseded', sessionId: at.session.id })
  const kind = 'agent_transfer' as const
  const request = defined({ session: at.session.id, holder, kind, targetAgent, reason, document, commandId })
  const begun = await handoffs.initiateHandoff(request)
  if (!begun.ok) return begun
  at.update(begun.value)
  const { handoff } = begun.value
  if (document === undefined) return ok({ state: 'initiated', handoff })
  const path = await files.writeDocument(handoff.id, document)
  at.keep({ lastHandoffPath: path })
  return ok({ state: 'initiated', handoff, path })
}
