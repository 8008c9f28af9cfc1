import { type Decided, newDraft } from '../decision.ts'
import type { HandoffFacts } from '../facts.ts'
import type { HandoffId } from '../kernel/ids.ts'
import type { Instant } from '../kernel/instant.ts'
import { noteOf, type SetMetadata } from '../kernel/metadata.ts'
import { err } from '../kernel/result.ts'
import type { HandoffMetadata } from './handoff.ts'
import { HANDOFF } from './handoff-aggregate.ts'

/** Sets the note of a handoff, whatever its status. */
export const setHandoffMetadata = (
  { handoff }: HandoffFacts,
  { handoffId, metadata }: SetMetadata & { readonly handoffId: HandoffId },
  at: Instant,
): Decided<{ readonly handoff: HandoffMetadata }> => {
  if (handoff === undefined) return err({ code: 'handoff.not_found', handoffId })
  const about = { version: 1, conversationId: handoff.conversationId, handoffId, at } as const
  const draft = newDraft()
  const noted = draft.record(HANDOFF, handoff, { type: 'handoff.metadata_set', ...about, ...noteOf(metadata) })
  return draft.finish({ handoff: noted })
}
