import { isDeepStrictEqual } from 'node:util'
import { foldHistory } from '../../../src/domain/history/history.ts'
import type { ConversationId } from '../../../src/domain/kernel/ids.ts'
import { withholdTexts } from '../../../src/domain/kernel/texts.ts'
import type { Store } from '../../../src/ports/store/store.ts'
import { everyItem, ReadBack } from '../../cases/read-back.ts'

type Rows = ReadonlyMap<string, object>

const byId = (rows: readonly { readonly id: string }[]): Rows =>
  new Map(rows.map((row) => [row.id, withholdTexts(row)]))

const differing = (what: string, folded: Rows, stored: Rows): readonly string[] =>
  [...new Set([...folded.keys(), ...stored.keys()])]
    .filter((id) => !isDeepStrictEqual(folded.get(id), stored.get(id)))
    .map((id) => `${what} ${id} is not what its log adds up to`)

/** What of a conversation differs from what its log adds up to. */
export const differsFromLog = async (store: Store, id: ConversationId): Promise<readonly string[]> => {
  const kept = new ReadBack(store)
  const folded = foldHistory((await kept.audit(id)).map(({ event }) => event))
  const sessions = await kept.sessions(id)
  const snapshots = (await Promise.all(sessions.map((session) => kept.snapshots(session.id)))).flat()
  return [
    ...differing('session', folded.sessions, byId(sessions)),
    ...differing('handoff', folded.handoffs, byId(await kept.handoffs(id))),
    ...differing('snapshot', folded.snapshots, byId(snapshots.map(({ visibleToolCalls: _, ...record }) => record))),
  ]
}

/** Everything that is stored of a conversation, read through every port that lists it. */
export const readEverything = async (store: Store, id: ConversationId): Promise<unknown> => {
  const sessions = await new ReadBack(store).sessions(id)
  return {
    ...((await new ReadBack(store).everything(id)) as object),
    conversation: await store.conversations.find(id),
    turns: await Promise.all(
      sessions.map((session) => everyItem((page) => store.messages.listTurns(session.id, page))),
    ),
    monitors: await Promise.all(sessions.map((session) => store.monitors.find(session.id))),
    signals: await Promise.all(sessions.map((session) => everyItem((page) => store.signals.listFor(session.id, page)))),
  }
}
