import { isStranded } from '../../domain/terminal/candidate.ts'
import { everyPage } from '../../ports/store/page.ts'
import type { KeptSession } from '../../ports/terminal/terminal-files.ts'
import type { CandidateParts } from './candidate-events.ts'
import type { TerminalDeps } from './terminal-deps.ts'

/** Finishes what an interrupted service began, and ends what waits for nothing any more. */
export class Sweep {
  readonly #deps: TerminalDeps
  readonly #parts: CandidateParts

  constructor(deps: TerminalDeps, parts: CandidateParts) {
    this.#deps = deps
    this.#parts = parts
  }

  async run(): Promise<void> {
    await this.#finishTaken()
    await this.#closeExpired()
    await this.#releaseClosed()
    await this.#settleLost()
    await this.endGone()
    await this.#deps.threads?.sweep()
  }

  /**
   * Ends the sessions whose agent is gone and has not said so: its terminal was closed, or it was killed, or it began
   * another session. What its transcript has is recorded first. Resumed, such a session continues its conversation.
   */
  async endGone(): Promise<void> {
    const { sessions, documents, turns, inTurn } = this.#parts
    for (const id of await this.#goneOnes())
      await inTurn(id, async () => {
        const at = await sessions.find(id)
        if (at === undefined || !this.#isGone(at.providerSessionId, at.tracking)) return
        await turns.take(at, { isAtRest: true })
        await documents.endSession(at)
        await sessions.keep(at)
      })
  }

  async #goneOnes(): Promise<readonly string[]> {
    const found: string[] = []
    if (this.#deps.agentOf === undefined) return found
    for await (const { session } of everyPage((page) => this.#deps.store.sessions.listUnfinished(page))) {
      const { providerSessionId: id, state } = session
      const tracking = id === undefined || state !== 'active' ? undefined : await this.#parts.sessions.trackingOf(id)
      if (id !== undefined && tracking?.sessionId === session.id && this.#isGone(id, tracking)) found.push(id)
    }
    return found
  }

  #isGone(id: string, { isNoted, hasEnded, holder }: KeptSession): boolean {
    if (isNoted !== true || hasEnded === true || holder === undefined) return false
    const presence = this.#deps.agentOf?.(id)
    return presence === 'gone' || presence === 'unknown'
  }

  /** A document that was taken is passed on, also when its candidate never reports again. */
  async #finishTaken(): Promise<void> {
    const { candidates, succession, inTurn } = this.#parts
    for (const { by } of await this.#deps.pending.listTaken())
      await inTurn(by, async () => {
        const candidate = await candidates.find(by)
        if (candidate !== undefined) await succession.settle(candidate)
      })
  }

  /** Closes the documents that nobody has taken in their time. A candidate that has begun with one may still take it. */
  async #closeExpired(): Promise<void> {
    const { candidates, documents } = this.#parts
    const begunWith = new Set((await candidates.list()).map(({ pendingId }) => pendingId))
    for (const { workspace } of await this.#deps.pending.listPending())
      await documents.inWorkspace(workspace, async () => {
        const left = await documents.waitingIn(workspace)
        if (left === undefined) return
        const isBegunWith = begunWith.has(left.document.id)
        const now = this.#deps.clock.now()
        await documents.change(left, { type: 'close', because: 'expired', now, isBegunWith })
      })
  }

  async #releaseClosed(): Promise<void> {
    const { sessions, documents, inTurn } = this.#parts
    for (const document of await this.#deps.pending.listClosed())
      await inTurn(document.providerSessionId, async () => {
        const closed = { status: 'closed', document } as const
        const at = await sessions.find(document.providerSessionId)
        if (at === undefined) return void (await documents.change(closed, { type: 'forget' }))
        await documents.release(at, closed)
        await sessions.keep(at)
      })
  }

  /** Records what was said in a session that ended before its first turn, once its document is not there any more. */
  async #settleLost(): Promise<void> {
    const { candidates, succession, inTurn } = this.#parts
    for (const candidate of await candidates.list()) {
      if (!candidate.hasEnded || !isStranded(candidate, await candidates.documentOf(candidate))) continue
      await inTurn(candidate.providerSessionId, async () => {
        const at = await succession.settle(candidate)
        if (at?.tracking.holder === undefined) return
        const { holder } = at.tracking
        await this.#deps.handoffs.completeSession({ session: at.session.id, holder })
      })
    }
  }
}
