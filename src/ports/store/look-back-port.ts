import type { LookBackRead, LookBackWanted } from '../../domain/history/look-back-search.ts'
import type { AgentSessionId, ConversationId } from '../../domain/kernel/ids.ts'
import type { LookBackInHistory } from '../../domain/session/looked-back.ts'
import type { Page, Paged } from './page.ts'

/**
 * Looks back at what was recorded, and lists who did. Every implementation keeps these promises:
 * - it reads one conversation: that of the session, or the one that is named;
 * - a call and a turn are found by key; a search goes from the newest message to older ones, and stops at its bounds. So
 *   no question costs more after ten thousand turns than after ten;
 * - every text is cut to the bounds, counted in characters, and is otherwise what was stored;
 * - words are found wherever they stand in a text. The letters A to Z match in either case; every other character, also
 *   `%`, `_` and `\`, only itself.
 */
export interface LookBackPort {
  /** The answer to one question, in one read; nothing when there is no such session or conversation. */
  read(wanted: LookBackWanted): Promise<LookBackRead | undefined>
  /** The questions that were asked in a conversation, by the time they were. */
  listForConversation(conversation: ConversationId, page: Page): Promise<Paged<LookBackInHistory>>
  /** How many questions these sessions asked. Those that asked none are left out. */
  countFor(sessions: readonly AgentSessionId[]): Promise<ReadonlyMap<AgentSessionId, number>>
}
