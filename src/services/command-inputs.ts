import { canonicalJson } from '../domain/canonical-json.ts'
import type { Answer, Decided } from '../domain/decision.ts'
import type { SessionTarget } from '../domain/decisions/change-session.ts'
import type { NewHandoffIds } from '../domain/decisions/initiate-handoff.ts'
import type { NewSessionIds } from '../domain/decisions/start-session.ts'
import { defined } from '../domain/defined.ts'
import type { SessionFacts } from '../domain/facts.ts'
import {
  agentSessionId,
  commandId,
  type HandoffId,
  handoffId,
  holderToken,
  messageId,
  snapshotId,
  turnId,
} from '../domain/ids.ts'
import type { Instant } from '../domain/instant.ts'
import { mapTexts } from '../domain/texts.ts'
import type { TurnDraft, TurnInput } from '../domain/turn.ts'
import { UNKNOWN_USAGE } from '../domain/usage-reading.ts'
import type { Clock, IdGenerator } from '../ports/system.ts'
import type { CommandStamp } from '../ports/unit-of-work.ts'
import type { OnHandoff, OnSession, Repeatable } from './requests.ts'

/** Where a command's time, ids and redaction come from. */
export interface CommandContext {
  readonly clock: Clock
  readonly ids: IdGenerator
  /** Applied to every text before it is stored. */
  readonly redact?: (text: string) => string
}

/** A request with its texts redacted, and the one moment its command happens at. */
export const prepared = <R extends object>(
  asked: R,
  { clock, redact }: CommandContext,
): { request: R; at: Instant } => ({
  request: redact === undefined ? asked : mapTexts(asked, redact),
  at: clock.now(),
})

/** How a command is carried out rather than what it asks; a repetition may differ in these. */
const MANNER: ReadonlySet<string> = new Set(['commandId', 'holder', 'wait', 'pollMs', 'signal'])

/** Names a command, by the caller's id or a new one, and says what it asks. */
export const stampOf = (name: string, request: Repeatable, ids: IdGenerator): CommandStamp => {
  const asked = Object.entries(request)
    .filter(([key]) => !MANNER.has(key))
    .map(([key, value]) => [key, key === 'session' || key === 'handoff' ? idOf(value) : value])
  return { id: request.commandId ?? commandId(ids.next()), payload: canonicalJson([name, Object.fromEntries(asked)]) }
}

const idOf = <T extends string>(named: T | { readonly id: T }): T => (typeof named === 'string' ? named : named.id)

/** Which session a request is for, and who asks. */
export const targetOf = ({ session, holder }: OnSession): SessionTarget => defined({ sessionId: idOf(session), holder })

/** Which handoff a request is for. */
export const handoffIdOf = ({ handoff }: OnHandoff): HandoffId => idOf(handoff)

/** A command on one session, decided on what the caller holds: a session, and the token that says who it is. */
export const sessionCommand = <A extends Answer>(
  name: string,
  request: OnSession,
  { clock, ids }: CommandContext,
  decide: (facts: SessionFacts, target: SessionTarget, at: Instant) => Decided<A>,
) => {
  const { session, holder } = request
  const target = targetOf(request)
  const at = clock.now()
  return {
    stamp: stampOf(name, request, ids),
    question: { about: 'session' as const, sessionId: target.sessionId },
    ...(typeof session !== 'string' && holder !== undefined && { held: { working: { session, holder } } }),
    decide: (facts: SessionFacts) => decide(facts, target, at),
  }
}

/** Ids for a new session, made once per command however often it is decided. */
export const newSessionIds = (ids: IdGenerator): NewSessionIds => ({
  sessionId: agentSessionId(ids.next()),
  holder: holderToken(ids.next()),
  snapshotId: snapshotId(ids.next()),
  openingId: messageId(ids.next()),
})

/** Ids for a new handoff. */
export const newHandoffIds = (ids: IdGenerator): NewHandoffIds => ({
  handoffId: handoffId(ids.next()),
  snapshotId: snapshotId(ids.next()),
})

/** A turn with its ids. */
export const draftTurn = ({ messages, usage = UNKNOWN_USAGE }: TurnInput, ids: IdGenerator): TurnDraft => ({
  id: turnId(ids.next()),
  messages: messages.map((input) => ({ id: messageId(ids.next()), input })),
  usage,
})
