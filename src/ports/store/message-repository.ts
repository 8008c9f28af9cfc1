import type { PersonMessages, PersonMessagesWanted } from '../../domain/checkpoint/carried-words.ts'
import type { WindowAtTurn } from '../../domain/history/window-at-turn.ts'
import type { AgentSessionId, ConversationId, TurnId } from '../../domain/kernel/ids.ts'
import type { Message, MessageInHistory, SessionOpening } from '../../domain/turn/message.ts'
import type { ToolCall } from '../../domain/turn/tool-call.ts'
import type { Turn } from '../../domain/turn/turn.ts'
import type { Page, Paged } from './page.ts'

export type { PersonMessages, PersonMessagesWanted } from '../../domain/checkpoint/carried-words.ts'

/**
 * Keeps messages, turns and tool calls. They are added and never changed or removed: sequence numbers are unique in
 * a conversation, turn numbers in a session, and a message never changes.
 */
export interface MessageRepository {
  findTurn(id: TurnId): Promise<Turn | undefined>
  /** The content of the session's window right after a turn, counted from its messages, in one read. */
  findWindowAt(id: TurnId): Promise<WindowAtTurn | undefined>
  /** The messages a session opens with, in order, if it has any. */
  findOpening(session: AgentSessionId): Promise<SessionOpening | undefined>
  /** The latest messages of a session after its opening, this many at most, in order. */
  listLatest(session: AgentSessionId, most: number): Promise<readonly Message[]>
  /** The latest use of each of these calls that was recorded in a conversation, in order. */
  findToolCalls(conversation: ConversationId, callIds: readonly string[]): Promise<readonly ToolCall[]>
  /** The newest messages whose origin is a person, and how many older ones there are. The cost has a bound. */
  findPersonMessages(conversation: ConversationId, wanted: PersonMessagesWanted): Promise<PersonMessages>
  /** By turn number. */
  listTurns(session: AgentSessionId, page: Page): Promise<Paged<Turn>>
  /** By sequence number, each with the handoffs it is related to. */
  listMessages(conversation: ConversationId, page: Page): Promise<Paged<MessageInHistory>>
  /** The messages of one session, in the same way. */
  listSessionMessages(session: AgentSessionId, page: Page): Promise<Paged<MessageInHistory>>
}
