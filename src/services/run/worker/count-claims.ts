import type { AuditEvent } from '../../../domain/audit-event.ts'
import { claimOf, type HandoffMetadata } from '../../../domain/handoff/handoff.ts'
import { later } from '../../../domain/kernel/instant.ts'
import { everyPage } from '../../../ports/store/page.ts'
import type { RunnerDeps } from '../run-in-progress.ts'

/** A claim of this length is over at once. */
const SHORTEST_CLAIM_MS = 1

/** Whether a handoff was claimed more often than this, each time for nothing but the last. The record is read only if it may be so. */
export const isClaimedTooOften = async (
  deps: Pick<RunnerDeps, 'store'>,
  handoff: HandoffMetadata,
  most: number,
): Promise<boolean> => {
  // Each claim is a step in the version of a handoff, and so are its beginning and other things.
  if (handoff.version - 1 <= most) return false
  let claims = 0
  const entries = everyPage((page) => deps.store.audit.list(handoff.conversationId, page))
  for await (const { event } of entries) claims += claimsIn(event, handoff)
  return claims > most
}

/** A claim that was given back came to nothing, and killed nobody. */
const claimsIn = (event: AuditEvent, { id }: HandoffMetadata): number => {
  if (event.type !== 'handoff.accepted' && event.type !== 'handoff.claim_renewed') return 0
  if (event.handoffId !== id) return 0
  if (event.type === 'handoff.accepted') return 1
  const { acceptedAt, deadline } = event.claim
  return deadline <= later(acceptedAt, SHORTEST_CLAIM_MS) ? -1 : 0
}

/** Gives a claim back, so that somebody else need not wait until it runs out. One that is lost is given back already. */
export const giveBack = async ({ handoffs }: Pick<RunnerDeps, 'handoffs'>, handoff: HandoffMetadata): Promise<void> => {
  const claimant = claimOf(handoff)?.claimant
  if (claimant === undefined) return
  await handoffs.renewClaim({ handoff: handoff.id, claimant, claimMs: SHORTEST_CLAIM_MS }).catch(() => undefined)
}
