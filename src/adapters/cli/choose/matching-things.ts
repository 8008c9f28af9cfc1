import type { Conversation } from '../../../domain/conversation/conversation.ts'
import { titleOf } from '../../../domain/conversation/title.ts'
import { shortestEnding } from '../../../domain/kernel/id-ending.ts'
import { agentSessionId, type ConversationId, conversationId, handoffId } from '../../../domain/kernel/ids.ts'
import type { Instant } from '../../../domain/kernel/instant.ts'
import type { IdKind } from '../../../ports/store/id-search.ts'
import type { HandoffHistory } from '../../../services/history/handoff-history.ts'
import { age } from '../render/render-age.ts'
import { plain } from '../render/render-text.ts'
import { EXIT } from '../tree/exit-codes.ts'
import { CommandNotCompleted } from '../tree/problems.ts'

/** A thing that exists, and the kind of thing it is. */
export interface NamedThing {
  readonly kind: IdKind
  readonly id: string
}

/** How many of several matches are listed. */
export const MOST_LISTED = 10

/** The refusal of a word that means several things. It lists them, each by as much of its id as tells it from the others. */
export const ambiguous = async (
  history: HandoffHistory,
  word: string,
  found: readonly NamedThing[],
): Promise<CommandNotCompleted> => {
  const length = shortestEnding(found.map(({ id }) => id))
  const listed = await Promise.all(found.slice(0, MOST_LISTED).map((thing) => lineOf(history, thing, length)))
  const more = found.length > MOST_LISTED ? ['  … and more'] : []
  const head = `"${plain(word)}" means several things. Name one by its short id: (name.ambiguous)`
  return new CommandNotCompleted([head, ...listed, ...more].join('\n'), EXIT.refused)
}

const lineOf = async (history: HandoffHistory, thing: NamedThing, length: number): Promise<string> => {
  const { at, of } = await aboutOf(history, thing)
  const conversation = of && (await history.conversation(of))
  return [
    `  ${thing.id.slice(-length)}`,
    ...(thing.kind === 'conversation' ? [] : [thing.kind]),
    ...(conversation === undefined ? [] : [titleOf(conversation)]),
    ...(at === undefined ? [] : [age(at, Date.now())]),
  ].join('  ')
}

interface About {
  readonly at?: Instant
  readonly of?: ConversationId
}

const aboutOf = async (history: HandoffHistory, { kind, id }: NamedThing): Promise<About> => {
  if (kind === 'session') {
    const session = await history.session(agentSessionId(id))
    return session === undefined ? {} : { at: session.startedAt, of: session.conversationId }
  }
  if (kind === 'handoff') {
    const handoff = await history.handoff(handoffId(id))
    return handoff === undefined ? {} : { at: handoff.initiatedAt, of: handoff.conversationId }
  }
  const found: Conversation | undefined =
    kind === 'conversation' ? await history.conversation(conversationId(id)) : undefined
  return found === undefined ? {} : { at: found.openedAt, of: found.id }
}
