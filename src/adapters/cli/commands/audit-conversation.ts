import { type ConversationId, conversationId } from '../../../domain/kernel/ids.ts'
import { RefusedError } from '../../../domain/unwrap.ts'
import type { HandoffHistory } from '../../../services/handoff-history.ts'
import type { Invocation } from '../command.ts'
import { notFound } from '../history-args.ts'
import { UsageError } from '../problems.ts'

/** Which conversation a command line names, by id or by key; `undefined` when it names none. */
export type Named = { readonly id: ConversationId } | { readonly key: string } | undefined

/** @throws UsageError when it names several, or something that is no id */
export const namedConversation = ({ positionals, values }: Invocation): Named => {
  const [id] = positionals
  const { key } = values
  if (typeof key === 'string') {
    if (id !== undefined) throw new UsageError('Name the conversation by its id or by --key, not by both.')
    return { key }
  }
  if (id === undefined) return undefined
  try {
    return { id: conversationId(id) }
  } catch (cause) {
    const example = '0190a0a0-0000-7000-8000-000000000001'
    throw new UsageError(`"${id}" is not the id of a conversation. An id looks like ${example}.`, { cause })
  }
}

/** The id of a named conversation that exists. @throws RefusedError when it does not */
export const findConversation = async (history: HandoffHistory, named: NonNullable<Named>): Promise<ConversationId> => {
  const found = await ('id' in named ? history.conversation(named.id) : history.conversationByKey(named.key))
  if (found !== undefined) return found.id
  if ('id' in named) throw new RefusedError({ code: 'conversation.not_found', conversationId: named.id })
  throw notFound('key', `no conversation has the key "${named.key}"`)
}
