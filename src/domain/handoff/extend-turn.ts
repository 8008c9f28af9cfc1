import { type Decided, newDraft } from '../decision.ts'
import type { HandoffFacts } from '../facts.ts'
import { defined } from '../kernel/defined.ts'
import type { HandoffId } from '../kernel/ids.ts'
import type { Instant } from '../kernel/instant.ts'
import { err } from '../kernel/result.ts'
import { heldBy } from '../session/agent-session.ts'
import { SESSION } from '../session/session-aggregate.ts'
import type { HolderProof } from '../session/stored-session.ts'
import type { MessageDraft } from '../turn/turn.ts'
import { HANDOFF } from './handoff-aggregate.ts'
import { findHandoff, type HandoffAccepted } from './settle-handoff.ts'

/** Messages that follow the turn which led to a handoff. */
export interface ExtendTurn {
  readonly handoffId: HandoffId
  readonly drafts: readonly MessageDraft[]
  /** Who works the source: it is refused to anybody else. */
  readonly holder: HolderProof
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
  const draft = newDraft()
  // Nothing of the handoff moves; but what was said is kept only while nobody has kept a checkpoint.
  draft.guard(HANDOFF, handoff)
  const extended = draft.apply(SESSION, source, { type: 'extend_turn', messages: drafts, at })
  if (!extended.ok) return extended
  const { session } = extended.value
  return draft.finish(defined({ handoff, session, conversation, monitor: facts.monitor }))
}
