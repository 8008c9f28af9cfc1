import type { Decided } from '../decision.ts'
import type { HandoffFacts } from '../facts.ts'
import type { HandoffId } from '../kernel/ids.ts'
import type { Instant } from '../kernel/instant.ts'
import { err, ok } from '../kernel/result.ts'
import type { HandoffMetadata } from './handoff.ts'
import { evolveHandoff, type HandoffMoved } from './handoff-lifecycle.ts'
import { findHandoff } from './settle-handoff.ts'

/** Keeps with a handoff, whatever its status, what its source did and nobody had heard. Kept once. */
export const keepExtract = (
  facts: HandoffFacts,
  { handoffId, extract }: { readonly handoffId: HandoffId; readonly extract: string },
  at: Instant,
): Decided<{ readonly handoff: HandoffMetadata }> => {
  const found = findHandoff(facts, handoffId)
  if (!found.ok) return found
  const { handoff } = found.value
  if (handoff.extract !== undefined) return err({ code: 'handoff.extracted', handoffId })
  const { conversationId } = handoff
  const event: HandoffMoved = { type: 'handoff.extract_kept', version: 1, conversationId, handoffId, at, extract }
  return ok({
    changes: [{ type: 'keep_extract', handoffId, conversationId, extract }],
    events: [event],
    answer: { handoff: evolveHandoff(handoff, event) },
  })
}
