import type { Conversation } from '../../domain/conversation/conversation.ts'
import type { HandoffMetadata } from '../../domain/handoff/handoff.ts'
import {
  absent,
  type Check,
  lengthOf,
  listOf,
  noteProblem,
  type OptionalCheck,
  optional,
} from '../../domain/input/check.ts'
import { leaseMs, processIdentity } from '../../domain/input/details.ts'
import { id } from '../../domain/input/words.ts'
import { defined } from '../../domain/kernel/defined.ts'
import {
  type AgentSessionId,
  type CommandId,
  type ConversationId,
  type HandoffId,
  type HolderToken,
  holderToken,
  type Id,
  isHolderToken,
} from '../../domain/kernel/ids.ts'
import type { AgentSession } from '../../domain/session/agent-session.ts'
import type { ChangeTarget, HeldTarget } from '../../domain/session/change-session.ts'
import type { HolderProof } from '../../domain/session/stored-session.ts'
import type { Turn } from '../../domain/turn/turn.ts'
import type { ContextMonitor } from '../../domain/window/context-monitor.ts'
import { tokenDigest } from '../../ports/system/holder-tokens.ts'
import { content, manner } from './command.ts'
import { type IssuedKind, issuedKind } from './issued-objects.ts'
import type { AsHolder, ChangesSession, OnConversation, OnHandoff } from './requests.ts'

/** Something named by its id, or as a command answered with it. Any other object counts for the id in it. */
const reference = <T extends { readonly id: I }, I extends Id<string>>(kind: IssuedKind): Check<T | I> => {
  return (value, field, problems) => {
    if (issuedKind(value) === kind) return value as T
    if (typeof value !== 'object' || value === null) return id(value, field, problems) as string as I
    return id(idIn(value), `${field}.id`, problems) as string as I
  }
}

const idIn = (value: object): unknown => {
  try {
    return (value as { readonly id?: unknown }).id
  } catch {
    return undefined
  }
}

/** A part of an earlier answer, passed back to save a read. Any other object is ignored, and the store is read. */
const passedBack = <T>(kind: IssuedKind): OptionalCheck<T> =>
  optional((value) => (issuedKind(value) === kind ? (value as T) : (undefined as never)))

const passedBackTurns: OptionalCheck<readonly Turn[]> = optional((value, field, problems) => {
  if (lengthOf(value) === undefined) return undefined as never
  const turns = listOf((turn) => turn as Turn)(value, field, problems)
  return turns.every((turn) => issuedKind(turn) === 'turn') ? turns : (undefined as never)
})

export const repeatable = { commandId: manner(optional<CommandId>(id)) }

/** The turns just recorded. */
export const recordedTurns = manner(passedBackTurns)

const session = content(reference<AgentSession, AgentSessionId>('session'))
const monitor = manner(passedBack<ContextMonitor>('monitor'))
/** A token as an answer had it. What is wrong with it is said without the text: it may be a token all the same. */
const token: Check<HolderToken> = (value, field, problems) =>
  isHolderToken(value) ? holderToken(value) : noteProblem(absent(value, "a holder's token"), field, problems)

const anyHolder = manner(optional(token))

/** A session, from anyone. A token that is given must be the current one. */
export const onSession = { ...repeatable, session, holder: anyHolder, monitor }

/** It is `true` or absent: a caller that does not act by hand leaves it out. */
export const isTrue: Check<true> = (value, field, problems) =>
  value === true ? value : noteProblem('it is not true', field, problems)

/** A session that is changed: by its holder, who shows the token, or by hand, which is said. */
export const changesSession = { ...onSession, byHand: manner(optional(isTrue)) }

/** A session, from its holder, who shows the token. */
export const asHolder = { ...repeatable, session, holder: manner(token), monitor }

/** A session, with any holder. */
export const anySession = { ...repeatable, session, monitor }

/** A session whose window is reported on. */
export const onWindow = { ...repeatable, session, holder: anyHolder }

/** A conversation. */
export const onConversation = {
  ...repeatable,
  conversation: content(reference<Conversation, ConversationId>('conversation')),
}

/** Which conversation a request is for. */
export const conversationIdOf = ({ conversation }: OnConversation): ConversationId => idOf(conversation)

/** A handoff. */
export const onHandoff = { ...repeatable, handoff: content(reference<HandoffMetadata, HandoffId>('handoff')) }

/** Answers of earlier steps of a handoff. */
export const heldAtHandoff = {
  session: manner(passedBack<AgentSession>('session')),
  conversation: manner(passedBack<Conversation>('conversation')),
  monitor,
}

/** Who works the source of a handoff, when the caller says. */
export const sourceHolder = { holder: anyHolder }

/** Who works the source of a handoff: the step is taken from nobody else. */
export const provenHolder = { holder: manner(token) }

const idOf = <T extends string>(named: T | { readonly id: T }): T => (typeof named === 'string' ? named : named.id)

/** Which session a request is for, and who asks. */
export const targetOf = ({
  session,
  holder,
  byHand,
}: Pick<ChangesSession, 'session' | 'holder' | 'byHand'>): ChangeTarget =>
  defined({ sessionId: idOf(session), holder: holder && proofOf(holder), byHand })

/** Which session a holder's request is for. */
export const heldTargetOf = ({ session, holder }: Pick<AsHolder, 'session' | 'holder'>): HeldTarget => ({
  sessionId: idOf(session),
  holder: proofOf(holder),
})

/** A token that was shown, with its digest: decisions compare digests, and the guard is given the token. */
export const proofOf = (token: HolderToken): HolderProof => ({ token, digest: tokenDigest(token) })

/** A request of a step of a handoff, as decisions take it. */
export const proven = <R extends { readonly holder?: HolderToken }>({ holder, ...request }: R) => ({
  ...request,
  ...(holder && { holder: proofOf(holder) }),
})

/** Which handoff a request is for. */
export const handoffIdOf = ({ handoff }: OnHandoff): HandoffId => idOf(handoff)

/** Whether the caller says that it acts by hand. */
export const isByHand = ({ byHand }: Pick<ChangesSession, 'byHand'>): boolean => byHand === true

/** Whether nobody showed the token of the source's holder: a step of a handoff goes by the claim, and needs none. */
export const isWithoutHolder = ({ holder }: { readonly holder?: HolderToken }): boolean => holder === undefined

/** A signal that ends a wait. */
export const abortSignal: Check<AbortSignal> = (value, field, problems) =>
  isSignal(value) ? value : noteProblem('it is not an AbortSignal', field, problems)

/** Only a real one answers; what merely looks like one throws. */
const isSignal = (value: unknown): value is AbortSignal => {
  try {
    return value instanceof AbortSignal && typeof value.aborted === 'boolean'
  } catch {
    return false
  }
}

/** The lease that a command may ask for. */
export const leaseAsked = {
  leaseMs: content(optional(leaseMs)),
  runner: content(optional(processIdentity)),
}
