import type { HandoffHistory } from '../../services/handoff-history.ts'
import { type IdOrKey, notFound } from './history-args.ts'
import { findId } from './which-id.ts'

/** A conversation or a session that exists. */
export interface Work {
  readonly kind: 'conversation' | 'session'
  readonly id: string
}

/** The conversation or session that a command line names, by id, by the beginning of one, or by key. @throws RefusedError */
export const findWork = async (history: HandoffHistory, wanted: IdOrKey): Promise<Work> => {
  if ('id' in wanted) {
    const { kind, id } = await findId(history, ['conversation', 'session'], wanted.id)
    return { kind: kind === 'session' ? kind : 'conversation', id }
  }
  const conversation = await history.conversationByKey(wanted.key)
  if (conversation === undefined) throw notFound('key', `no conversation has the key "${wanted.key}"`)
  return { kind: 'conversation', id: conversation.id }
}
