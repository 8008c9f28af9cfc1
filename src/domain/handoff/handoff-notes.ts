import { type Decided, newDraft } from '../decision.ts'
import type { HandoffFacts } from '../facts.ts'
import type { HandoffId } from '../kernel/ids.ts'
import type { Instant } from '../kernel/instant.ts'
import { noteOf, type SetMetadata } from '../kernel/metadata.ts'
import { err } from '../kernel/result.ts'
import type { HandoffMetadata } from './handoff.ts'
import { HANDOFF } from './handoff-aggregate.ts'
import { findHandoff } from './settle-handoff.ts'

/** Stores an extract with a handoff, in any status: work of its source that was not recorded in time. Stored once. */
export const keepExtract = (
  facts: HandoffFacts,
  { handoffId, extract }: { readonly handoffId: HandoffId; readonly extract: string },
  at: Instant,
): Decided<{ readonly handoff: HandoffMetadata }> => {
  const found = findHandoff(facts, handoffId)
  if (!found.ok) return found
  const { handoff } = found.value
  if (handoff.extract !== undefined) return err({ code: 'handoff.extracted', handoffId })
  const about = { version: 1, conversationId: handoff.conversationId, handoffId, at } as const
  const draft = newDraft()
  const extracted = draft.record(HANDOFF, handoff, { type: 'handoff.extract_kept', ...about, extract })
  return draft.finish({ handoff: extracted })
}

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
