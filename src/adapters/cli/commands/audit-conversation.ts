import { type ConversationId, conversationId } from '../../../domain/kernel/ids.ts'
import { RefusedError } from '../../../domain/unwrap.ts'
import type { HandoffHistory } from '../../../services/handoff-history.ts'
import type { Invocation } from '../command.ts'
import { type IdOrKey, idOrKey, notFound } from '../history-args.ts'
import { wholeId } from '../which-id.ts'

/** Which conversation a command line names, by id or by key; `undefined` when it names none. @throws UsageError */
export const namedConversation = (invocation: Invocation): IdOrKey | undefined => {
  const { positionals, values } = invocation
  return positionals.length === 0 && values.key === undefined ? undefined : idOrKey(invocation, 'conversation')
}

/** The id of a named conversation that exists. @throws RefusedError when it does not */
export const findConversation = async (history: HandoffHistory, named: IdOrKey): Promise<ConversationId> => {
  if ('key' in named) {
    const found = await history.conversationByKey(named.key)
    if (found === undefined) throw notFound('key', `no conversation has the key "${named.key}"`)
    return found.id
  }
  const id = await wholeId(history, 'conversation', named.id, conversationId)
  if ((await history.conversation(id)) !== undefined) return id
  throw new RefusedError({ code: 'conversation.not_found', conversationId: id })
}
