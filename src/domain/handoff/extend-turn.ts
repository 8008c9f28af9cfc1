import { type Decided, expecting, expectingHandoff } from '../decision.ts'
import type { HandoffFacts } from '../facts.ts'
import { defined } from '../kernel/defined.ts'
import type { HandoffId, HolderToken } from '../kernel/ids.ts'
import type { Instant } from '../kernel/instant.ts'
import { err, ok } from '../kernel/result.ts'
import { heldBy } from '../session/agent-session.ts'
import { decideSession, evolveSession } from '../session/session-lifecycle.ts'
import type { MessageDraft } from '../turn/turn.ts'
import { findHandoff, type HandoffAccepted } from './settle-handoff.ts'

/** Messages that follow the turn which led to a handoff. */
export interface ExtendTurn {
  readonly handoffId: HandoffId
  readonly drafts: readonly MessageDraft[]
  /** Who works the source: it is refused to anybody else. */
  readonly holder: HolderToken
}

/**
 * Adds to the last turn of a session that is being left what was said after it, until its checkpoint is kept. The
 * handoff stays as it is: its prior turn, the tool calls it names, and the snapshot of the window.
 */
export const extendTurn = (
  facts: HandoffFacts,
  { handoffId, drafts, holder }: ExtendTurn,
  at: Instant,
): Decided<HandoffAccepted> => {
  const found = findHandoff(facts, handoffId, holder)
  if (!found.ok) return found
  const { handoff, source, conversation } = found.value
  const { session: before } = source
  if (heldBy(before) !== handoffId)
    return err({
      code: 'session.illegal_transition',
      sessionId: before.id,
      from: before.state,
      command: 'extend_turn',
    })
  if (handoff.checkpoint !== undefined) return err({ code: 'handoff.checkpointed', handoffId })
  const decided = decideSession(before, { type: 'extend_turn', messages: drafts, at })
  if (!decided.ok) return decided
  const event = decided.value
  if (event.type !== 'turn.extended') throw new TypeError('Adding to a turn leads to nothing else')
  const session = evolveSession(before, event)
  const { turnId, messages, toolCalls } = event
  const expected = expecting({ session: before, holder })
  return ok({
    changes: [
      // Nothing of it moves; but what was said is kept only while nobody has kept a checkpoint.
      { type: 'move_handoff', handoff, expected: expectingHandoff(handoff) },
      { type: 'move_session', working: { session, holder }, expected },
      { type: 'extend_turn', session, turnId, messages, toolCalls },
    ],
    events: [event],
    answer: defined({ handoff, session, conversation, monitor: facts.monitor }),
  })
}
