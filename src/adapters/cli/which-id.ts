import { defined } from '../../domain/kernel/defined.ts'
import { type ConversationId, conversationId } from '../../domain/kernel/ids.ts'
import type { RefusedError } from '../../domain/unwrap.ts'
import type { IdKind } from '../../ports/id-search.ts'
import type { HandoffHistory } from '../../services/handoff-history.ts'
import type { Invocation } from './command.ts'
import { idText, notFound, parsedFlag } from './history-args.ts'

const LENGTH = 36

/** How many of several matches are listed. */
const MOST_LISTED = 10

/** An id that was found, and the kind of thing it names. */
export interface FoundId {
  readonly kind: IdKind
  readonly id: string
}

/**
 * The one thing of these kinds whose id begins with a text.
 *
 * @throws RefusedError when there is none, or more than one: then the refusal lists them
 */
export const findId = async (history: HandoffHistory, kinds: readonly IdKind[], text: string): Promise<FoundId> => {
  const found: FoundId[] = []
  for (const kind of kinds)
    for (const id of await history.idsBeginning(kind, text, MOST_LISTED + 1)) found.push({ kind, id })
  const [only, another] = found
  if (only === undefined) throw nothing(kinds, text)
  if (another !== undefined) throw several(found, text)
  return only
}

/** The whole id of one kind. A whole id is taken as it is, so that its absence is said as everywhere. */
export const wholeId = async <Id extends string>(
  history: HandoffHistory,
  kind: IdKind,
  text: string,
  parse: (text: string) => Id,
): Promise<Id> => parse(text.length === LENGTH ? text : (await findId(history, [kind], text)).id)

const nothing = (kinds: readonly IdKind[], text: string): RefusedError => {
  const what = kinds.join(', ').replace(/, (\w+)$/, ' or $1')
  return notFound('id', `there is no ${what} ${text.length === LENGTH ? text : `whose id begins with ${text}`}`)
}

const several = (found: readonly FoundId[], text: string): RefusedError => {
  const listed = found.slice(0, MOST_LISTED).map(({ kind, id }) => `${kind} ${id}`)
  const more = found.length > MOST_LISTED ? ', and more' : ''
  return notFound('id', `${text} is the beginning of several. Give more of it: ${listed.join(', ')}${more}`)
}

/** The conversation that `--conversation` names: asked for once, however many pages are read. */
export const conversationFlag = (invocation: Invocation) => {
  const text = parsedFlag(invocation, 'conversation', idText)
  let asked: Promise<ConversationId> | undefined
  return async (history: HandoffHistory): Promise<{ readonly conversationId?: ConversationId }> => {
    if (text !== undefined) asked ??= wholeId(history, 'conversation', text, conversationId)
    return defined({ conversationId: await asked })
  }
}
