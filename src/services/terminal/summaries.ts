import { threadOffer } from '../../domain/thread/thread-offer.ts'
import type { CleanupReport } from '../thread/thread-cleanup.ts'
import type { FollowedSession } from './followed-session.ts'
import type { HookEventName, TerminalSignal } from './hook-event.ts'
import type { TerminalDeps } from './terminal-deps.ts'

/** The events after which an agent has stopped working. */
const AT_REST: readonly HookEventName[] = ['stop', 'session-end']

/** Summaries of threads in the memory files that terminal agents read. */
export class Summaries {
  readonly #deps: Pick<TerminalDeps, 'threads' | 'store'>

  constructor(deps: Pick<TerminalDeps, 'threads' | 'store'>) {
    this.#deps = deps
  }

  /** Takes out the summaries that are over, where a session begins. @returns a sentence about one that stays */
  async clear(folder: string | undefined): Promise<string | undefined> {
    const report = folder === undefined ? undefined : await this.#deps.threads?.clearAround(folder)
    const [failed] = report?.failed ?? []
    return failed && stillThere(failed)
  }

  /** Ends the wait of a thread once its agent has stopped for the first time. What fails is tried when it stops again. */
  async at(at: FollowedSession, event: HookEventName): Promise<void> {
    if (at.tracking.hasSummary !== true || !AT_REST.includes(event)) return
    const thread = await this.#deps.store.conversations.find(at.session.conversationId)
    const report = thread && (await this.#deps.threads?.end(thread))
    const [failed] = report?.failed ?? []
    at.keep(failed === undefined ? { hasSummary: undefined } : { notice: stillThere(failed) })
  }

  /** Offers a thread handoff to the person when the window reaches the milestone that was chosen for it. */
  offer(at: FollowedSession, signals: readonly TerminalSignal[]): void {
    const { offerAt } = this.#deps.threads ?? {}
    const reached = signals.find(({ kind, milestone }) => kind === 'milestone' && milestone === offerAt)
    if (offerAt === undefined || reached === undefined) return
    at.keep({ notice: threadOffer(at.session.conversationId, offerAt) })
  }
}

const stillThere = ({ path, cause }: CleanupReport['failed'][number]): string =>
  `The summary of a thread is still in ${path} (${cause}). Take it out by hand before another session begins there.`
