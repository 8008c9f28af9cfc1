import { type Change, type DecidedLifecycle, expectingHandoff } from '../decision.ts'
import type { HandoffMetadata } from './handoff.ts'
import {
  beginHandoff,
  decideHandoff,
  evolveHandoff,
  type HandoffCommand,
  type HandoffEvent,
  type HandoffInitiated,
  type HandoffMoved,
} from './handoff-lifecycle.ts'

/** A handoff. A note or an extract moves nothing else of it. */
export const HANDOFF: DecidedLifecycle<HandoffMetadata, HandoffInitiated, HandoffMoved, HandoffCommand> = {
  keyOf: ({ id }) => id,
  begin: beginHandoff,
  decide: decideHandoff,
  evolve: evolveHandoff,
  changesOf: ({ first, now: handoff, events, isGuarded }) => {
    if (first === undefined) return [{ type: 'add_handoff', handoff }]
    const isMoved = handoff.version !== first.version
    // Written as it is, an unmoved one is compared all the same.
    const moved: Change = { type: 'move_handoff', handoff, expected: expectingHandoff(first) }
    return [...(isMoved || isGuarded ? [moved] : []), ...events.flatMap(besideOf)]
  },
}

const besideOf = (event: HandoffEvent): readonly Change[] => {
  if (event.type === 'handoff.extract_kept') {
    const { handoffId, conversationId, extract } = event
    return [{ type: 'keep_extract', handoffId, conversationId, extract }]
  }
  if (event.type !== 'handoff.metadata_set') return []
  const { handoffId: id, conversationId, metadata } = event
  return [{ type: 'set_metadata', of: 'handoff', id, conversationId, ...(metadata && { metadata }) }]
}
