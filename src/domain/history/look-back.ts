import type { AgentSessionId, ConversationId } from '../kernel/ids.ts'
import type { Instant } from '../kernel/instant.ts'
import type { SequenceNumber } from '../kernel/sequence.ts'
import type { MessageOrigin, MessageRole } from '../turn/message.ts'

/** A question about what was said and done in a conversation. */
export type LookBackQuestion =
  /** The latest use of a tool under this call id, and its result. A citation, `[call:…]`, is a call id too. */
  | { readonly by: 'call'; readonly callId: string }
  /** Everything that one turn said; turn 0 is what its window opened with. A window has the epoch of its session. */
  | { readonly by: 'turn'; readonly epoch: number; readonly turn: number }
  /** Tool calls that name a file, and results of tools that do. */
  | { readonly by: 'file'; readonly name: string }
  /** Messages in which all of these words occur, in the text or in its tool calls. */
  | { readonly by: 'words'; readonly words: string }

/** A question as one line of text: what is kept of it. */
export const questionText = (question: LookBackQuestion): string => {
  switch (question.by) {
    case 'call':
      return question.callId
    case 'turn':
      return `${question.epoch}.${question.turn}`
    case 'file':
      return question.name
    case 'words':
      return question.words
    default:
      return question satisfies never
  }
}

/** Where something was said: in which window, and in which turn of it. */
export interface LookBackPlace {
  readonly sessionId: AgentSessionId
  /** The number of the window in its conversation: the epoch of its session. */
  readonly epoch: number
  /** The number of the turn in its window; absent for what the window opened with. */
  readonly turn?: number
  readonly sequenceNumber: SequenceNumber
  readonly recordedAt: Instant
}

/** A use of a tool that a message made. */
export interface LookBackCall {
  readonly callId: string
  readonly toolName: string
  readonly argument?: string
}

/** A part of a recorded text, exactly as it was stored. */
export interface Passage {
  readonly text: string
  /** How many characters of the stored text come before it. */
  readonly before: number
  /** How many characters of the stored text come after it. */
  readonly after: number
  /** How many characters the whole text had, when only its beginning was stored. */
  readonly cutFrom?: number
}

/** One recorded message that answers a question. */
export interface LookBackHit extends LookBackPlace {
  readonly role: MessageRole
  readonly origin: MessageOrigin
  /** The tools that it calls: the one asked for, those that match, or the first of a turn's message. */
  readonly calls: readonly LookBackCall[]
  /** How many more tools a message of a turn calls. */
  readonly callsLeftOut?: number
  /** The call id that a tool's result answers. */
  readonly answers?: string
  readonly passage: Passage
}

/** A message that a search over all conversations found, with a part of its text. */
export interface FoundInHistory extends LookBackHit {
  readonly conversationId: ConversationId
  /** The title of its conversation. */
  readonly title: string
}

/** The answer to a question, bounded whatever was asked. */
export interface LookBackAnswer {
  /** The question as it was understood: the call id of a citation, and words without the space around them. */
  readonly question: LookBackQuestion
  /** In order for a call and a turn; newest first for a file and words. */
  readonly found: readonly LookBackHit[]
  /** Asks for what comes next, with the same question; absent when there is nothing more. */
  readonly next?: string
  /** The oldest message that was searched for a file or words; absent when none was left to search. */
  readonly searchedBackTo?: LookBackPlace
  /** Whether nothing is left to be read or searched. */
  readonly isWhole: boolean
  /** The call is on record, and no result of it is. */
  readonly isResultMissing?: true
}

/** The share of a window that answers may take: it is there to be worked in. */
const SHARE_OF_WINDOW = 0.2

/** Of a window nobody knows the size of: a quarter of 32,000 tokens, the smallest window that agents are run in. */
const TOKENS_OF_UNKNOWN_WINDOW = 8_000

/** About so many characters of recorded work make a token: fewer than of prose, since much of it is code. */
const CHARACTERS_PER_TOKEN = 3

/** However small the window, one short answer is given. */
const LEAST_CHARACTERS = 4_000

/** The most characters that the answers to one session may have together, so that looking back never fills its window. */
export const lookBackAllowance = (windowTokens: number | undefined): number => {
  const tokens = windowTokens === undefined ? TOKENS_OF_UNKNOWN_WINDOW : windowTokens * SHARE_OF_WINDOW
  return Math.max(LEAST_CHARACTERS, Math.floor(tokens * CHARACTERS_PER_TOKEN))
}
