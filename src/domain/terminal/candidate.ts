import type { Conversation } from '../conversation/conversation.ts'
import type { HandoffKind } from '../handoff/handoff.ts'
import type { CommandId, ConversationId, HolderToken } from '../kernel/ids.ts'
import type { Instant } from '../kernel/instant.ts'
import { err, ok, type Result } from '../kernel/result.ts'
import { type AgentSession, isWaitingThread } from '../session/agent-session.ts'
import { isPendingThread } from '../thread/thread-note.ts'
import { type DocumentEvent, decideDocument } from './document-lifecycle.ts'
import { type DocumentFacts, isExpired, type LeftDocument } from './left-document.ts'

/** As many prompts are remembered of a session that has taken no turn. */
const MOST_PROMPTS = 50

/** The starts after which a session has nothing in its window. */
const EMPTY_STARTS: readonly (string | undefined)[] = [undefined, 'startup', 'clear']

/** A terminal session as it starts, as far as it matters to the work that waits. */
export interface TerminalStart {
  readonly providerSessionId: string
  /** How it started, as its runtime calls that. */
  readonly source?: string
  readonly cwd?: string
  /** The session that started this one. */
  readonly parentSessionId?: string
  /** The session inside of whose tools this one was started. */
  readonly within?: string
}

/**
 * The facts about a candidate that its rules are about: a session that began with a document, with the summary of a thread
 * or as a fork, and has taken no turn yet.
 */
export interface CandidateFacts {
  readonly providerSessionId: string
  /** The document that it began with, or the thread; of a fork an id of its own. */
  readonly pendingId: string
  readonly isFork?: boolean
  readonly thread?: ConversationId
  /** The prompts of its person so far. */
  readonly prompts: readonly CandidatePrompt[]
  readonly hasEnded: boolean
}

/** A prompt that a candidate's person typed, under the id of the event that brought it. */
export interface CandidatePrompt {
  readonly commandId: CommandId
  readonly prompt: string
}

/**
 * The kind of candidate that a start may make: a copy of another session, or a session that takes up work that waits. Absent for
 * one that continues itself, and for one that another session started: that one continues nobody's work.
 */
export const candidacyOf = ({
  source,
  cwd,
  parentSessionId,
  within,
}: TerminalStart): 'copy' | 'successor' | undefined => {
  if (cwd === undefined || parentSessionId !== undefined || within !== undefined) return undefined
  if (source === 'fork') return 'copy'
  return EMPTY_STARTS.includes(source) ? 'successor' : undefined
}

/**
 * Whether a session that starts is given the document that waits in its workspace. A session that is on record has work of
 * its own, except the one that wrote it: cleared, it begins anew.
 */
export const isGiven = (
  document: DocumentFacts,
  { source, providerSessionId }: TerminalStart,
  { now, isOnRecord }: { readonly now: Instant; readonly isOnRecord: boolean },
): boolean => {
  if (isExpired(document, now)) return false
  return document.providerSessionId === providerSessionId ? source === 'clear' : !isOnRecord
}

/** A candidate after its person has typed something: each prompt once, and the newest where there are many. */
export const withTypedPrompt = <Facts extends CandidateFacts>(candidate: Facts, added: CandidatePrompt): Facts => {
  const { prompts } = candidate
  const isEmpty = added.prompt.trim() === ''
  if (isEmpty || prompts.some(({ commandId }) => commandId === added.commandId)) return candidate
  return { ...candidate, prompts: [...prompts, added].slice(-MOST_PROMPTS) }
}

/** A candidate after its terminal has ended. Undefined for one whose person typed nothing: it was never there. */
export const afterEnd = <Facts extends CandidateFacts>(candidate: Facts): Facts | undefined =>
  candidate.prompts.length === 0 ? undefined : { ...candidate, hasEnded: true }

/** Whether a candidate has ended and will never be a successor, because its document waits no longer. */
export const isStranded = ({ hasEnded }: CandidateFacts, waiting: DocumentFacts | undefined): boolean =>
  hasEnded && waiting === undefined

/** Whose session a candidate is. */
export type SuccessionOutcome =
  /** A branch of the session that it is a copy of, if anybody knows that one. */
  | { readonly type: 'copy' }
  /** The first of its thread. `isAgain`: it had got its name before, and was interrupted. */
  | { readonly type: 'thread'; readonly session: AgentSession; readonly isAgain: boolean }
  /** The next in the conversation that left the document, which it takes. */
  | { readonly type: 'document'; readonly event: DocumentEvent }
  /** A conversation of its own. */
  | { readonly type: 'alone' }

/** The work that a candidate began with, as it is on record when its first turn comes. */
export interface SuccessionFacts {
  /** Its document, pending or taken. */
  readonly document?: LeftDocument
  /** The conversation of its thread, and the session that has the baton there. */
  readonly thread?: { readonly conversation: Conversation; readonly baton: AgentSession }
}

/**
 * Decides whose session a candidate is, when its first turn comes. The first of several gets the work that waits; each of
 * the others, and one that comes too late, is alone.
 */
export const decideSuccession = (candidate: CandidateFacts, facts: SuccessionFacts): SuccessionOutcome => {
  if (candidate.isFork === true) return { type: 'copy' }
  if (candidate.thread !== undefined) return ofThread(candidate, facts.thread)
  const { document } = facts
  if (document === undefined || document.document.id !== candidate.pendingId) return { type: 'alone' }
  const taken = decideDocument(document, { type: 'take', by: candidate.providerSessionId })
  return taken.ok ? { type: 'document', event: taken.value } : { type: 'alone' }
}

/** A session that ended before its first turn leaves the thread to another one. */
const ofThread = (
  { providerSessionId, hasEnded }: CandidateFacts,
  thread: SuccessionFacts['thread'],
): Extract<SuccessionOutcome, { type: 'thread' | 'alone' }> => {
  if (hasEnded || thread === undefined || !isPendingThread(thread.conversation)) return { type: 'alone' }
  const { baton } = thread
  const isAgain = baton.providerSessionId === providerSessionId
  return isAgain || isWaitingThread(baton) ? { type: 'thread', session: baton, isAgain } : { type: 'alone' }
}

/** The session that left a document, as far as the service knows it. */
export interface DocumentSource {
  /** Absent when another process works the session. */
  readonly holder?: HolderToken
}

/** The reasons why the conversation of a taken document cannot be passed on, though the document is there. */
export type PassingRefusal = 'session.not_found' | 'session.superseded'

/** How the conversation of a taken document is passed on: by which kind of handoff, and with whose token. */
export const decidePassing = (
  { agentName }: { readonly agentName: string },
  source: DocumentSource | undefined,
  targetAgent: string,
): Result<{ readonly kind: Exclude<HandoffKind, 'thread'>; readonly holder: HolderToken }, PassingRefusal> => {
  if (source === undefined) return err('session.not_found')
  const { holder } = source
  // Another process works the source by now: its conversation is not ours to pass on.
  if (holder === undefined) return err('session.superseded')
  return ok({ kind: targetAgent === agentName ? 'context_restart' : 'agent_transfer', holder })
}
