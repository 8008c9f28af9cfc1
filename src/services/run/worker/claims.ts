import type { AuditEvent } from '../../../domain/audit-event.ts'
import { claimOf, type HandoffMetadata } from '../../../domain/handoff/handoff.ts'
import { later } from '../../../domain/kernel/instant.ts'
import { everyPage } from '../../../ports/store/page.ts'
import { ClaimSpread } from '../../commands/claim-spread.ts'
import { goneRunner } from '../recover/gone-runner.ts'
import type { RunnerDeps } from '../run-terms.ts'

/** How many handoffs to choose from at most. */
const MOST = 32

/** For which agents a worker claims, and how. */
interface ClaimTerms {
  /** The agents of the worker. */
  readonly agents: readonly string[]
  readonly claimant: string
  readonly claimMs: number
}

/**
 * Claims handoffs that wait for agents. While a living process holds the source of a handoff, that process decides
 * about it.
 */
export class Claims {
  readonly #deps: RunnerDeps
  readonly #terms: ClaimTerms
  readonly #spread = new ClaimSpread()
  /** The agent whose handoffs are looked for first: each agent in turn. */
  #first = 0
  #isAnyHeld = false

  constructor(deps: RunnerDeps, terms: ClaimTerms) {
    this.#deps = deps
    this.#terms = terms
  }

  /** Whether the latest search passed over a handoff whose source is held by a living process. */
  get isAnyHeld(): boolean {
    return this.#isAnyHeld
  }

  /** Claims the next handoff for any of the agents, beginning after the agent that got the last one. */
  async next(): Promise<HandoffMetadata | undefined> {
    const { agents } = this.#terms
    this.#isAnyHeld = false
    for (let tried = 0; tried < agents.length; tried += 1) {
      const index = (this.#first + tried) % agents.length
      const handoff = await this.#claimFor(agents[index] ?? '')
      if (handoff === undefined) continue
      this.#first = index + 1
      return handoff
    }
    return undefined
  }

  /** Claims the oldest handoff of an agent; after a conflict with other workers, any of the oldest. */
  async #claimFor(agent: string): Promise<HandoffMetadata | undefined> {
    const waiting = await this.#waitingFor(agent)
    for (let conflicts = 0; waiting.length > 0; conflicts += 1) {
      const among = Math.min(waiting.length, this.#spread.among(agent, conflicts))
      const [chosen] = waiting.splice(Math.floor(Math.random() * among), 1)
      if (chosen === undefined) break
      if (await this.#isHeld(chosen)) {
        this.#isAnyHeld = true
        continue
      }
      const { claimant, claimMs } = this.#terms
      const claimed = await this.#deps.handoffs.acceptHandoff({ handoff: chosen.id, claimant, claimMs })
      if (claimed.ok) return claimed.value.handoff
      this.#deps.logger?.debug({ handoffId: chosen.id, code: claimed.error.code }, 'a handoff could not be claimed')
    }
    return undefined
  }

  /** The oldest handoffs for an agent, also those whose sources are held. */
  async #waitingFor(agent: string): Promise<HandoffMetadata[]> {
    const waiting: HandoffMetadata[] = []
    for await (const handoff of everyPage((page) => this.#deps.store.handoffs.listPendingFor(agent, page)))
      if (handoff.kind === 'agent_transfer' && waiting.push(handoff) === MOST) break
    return waiting
  }

  /**
   * Whether a living process holds the source of a handoff, as far as this process can know. A source without a
   * checkpoint counts as held if its own agent works here: its session is recovered first, and its agent is asked for a
   * checkpoint.
   */
  async #isHeld({ sourceSessionId, sourceAgent, document, checkpoint }: HandoffMetadata): Promise<boolean> {
    const { store, clock } = this.#deps
    const lease = await store.leases.find(sourceSessionId)
    if (lease === undefined) return false
    const isUnasked = document === undefined && checkpoint === undefined
    if (isUnasked && this.#terms.agents.includes(sourceAgent)) return true
    if (lease.until <= (store.unitOfWork.estimateNow() ?? clock.now())) return false
    return (await goneRunner(this.#deps, sourceSessionId)) === undefined
  }
}

/** A claim of this length expires at once. */
const SHORTEST_CLAIM_MS = 1

/**
 * Whether a handoff was claimed more than `most` times without being taken up. The log is read only if its version
 * allows that.
 */
export const isClaimedTooOften = async (
  deps: Pick<RunnerDeps, 'store'>,
  handoff: HandoffMetadata,
  most: number,
): Promise<boolean> => {
  // Each claim raises the version of a handoff by one, and so do other changes.
  if (handoff.version - 1 <= most) return false
  let claims = 0
  const entries = everyPage((page) => deps.store.audit.list(handoff.conversationId, page))
  for await (const { event } of entries) claims += claimsIn(event, handoff)
  return claims > most
}

/** A claim counts as one, and giving it back takes that off again: no process was lost with it. */
const claimsIn = (event: AuditEvent, { id }: HandoffMetadata): number => {
  if (event.type !== 'handoff.accepted' && event.type !== 'handoff.claim_renewed') return 0
  if (event.handoffId !== id) return 0
  if (event.type === 'handoff.accepted') return 1
  const { acceptedAt, deadline } = event.claim
  return deadline <= later(acceptedAt, SHORTEST_CLAIM_MS) ? -1 : 0
}

/** Gives a claim back, so that another worker need not wait until it expires. A lost claim needs no giving back. */
export const giveBack = async ({ handoffs }: Pick<RunnerDeps, 'handoffs'>, handoff: HandoffMetadata): Promise<void> => {
  const claimant = claimOf(handoff)?.claimant
  if (claimant === undefined) return
  await handoffs.renewClaim({ handoff: handoff.id, claimant, claimMs: SHORTEST_CLAIM_MS }).catch(() => undefined)
}
