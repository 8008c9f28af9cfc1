import type { LedgerLine } from '../crew/ledger.ts'
import type { MoveName } from '../crew/moves.ts'

/** What a store holds of the commands of a phase. */
export interface Found {
  /** How many receipts there are for a command. */
  readonly receipts: ReadonlyMap<string, number>
  /** In how many transactions the entries of a command were written. */
  readonly transactions: ReadonlyMap<string, number>
  /** The id of everything that is stored. */
  readonly ids: ReadonlySet<string>
}

/** What the logs of all clients and the store say of each other. */
export interface Reckoning {
  readonly invoked: number
  /** Answered yes, with something that must be kept. */
  readonly acknowledged: number
  readonly refused: number
  /** Neither yes nor no ever came, or it came to a process that was killed. */
  readonly inDoubt: number
  /** How often a client was told that the store had failed. */
  readonly failures: number
  /** Acknowledged, and there once. */
  readonly foundOnce: number
  readonly lost: readonly string[]
  readonly doubled: readonly string[]
  /** Stored, and nobody had asked for it. */
  readonly neverInvoked: readonly string[]
  /** Refused, and stored all the same. */
  readonly refusedAndFound: readonly string[]
  /** What no client may ever see. */
  readonly broken: readonly string[]
  /** How often each command was acknowledged. */
  readonly byMove: ReadonlyMap<MoveName, number>
}

/** Compares what clients were told with what is stored. */
export const reckon = (lines: readonly LedgerLine[], found: Found): Reckoning => {
  const invoked = new Map(lines.flatMap((line) => (line.is === 'invoke' ? [[line.id, line.move] as const] : [])))
  const said = (is: LedgerLine['is']) => lines.filter((line) => line.is === is)
  const kept = lines.filter((line) => line.is === 'ok' && line.keeps)
  const refused = said('refused')
  const answered = new Set([...said('ok'), ...refused].map(({ id }) => id))
  const isThere = (id: string): boolean => found.receipts.has(id) || found.transactions.has(id)
  const stored = new Set([...found.receipts.keys(), ...found.transactions.keys()])
  const lost = kept.filter((line) => !found.receipts.has(line.id) || !hasNames(line, found))
  const doubled = [...stored].filter((id) => count(found.receipts, id) > 1 || count(found.transactions, id) > 1)
  const byMove = new Map<MoveName, number>()
  for (const { move } of kept) byMove.set(move, (byMove.get(move) ?? 0) + 1)
  for (const line of said('ok')) if (!byMove.has(line.move)) byMove.set(line.move, 1)
  return {
    invoked: invoked.size,
    acknowledged: kept.length,
    refused: refused.length,
    inDoubt: [...invoked.keys()].filter((id) => !answered.has(id)).length,
    failures: said('failed').length,
    foundOnce: kept.filter(({ id }) => count(found.receipts, id) === 1 && count(found.transactions, id) <= 1).length,
    lost: lost.map(({ id, move }) => `${move} ${id}`),
    doubled: doubled.map((id) => `${invoked.get(id) ?? 'a command'} ${id}`),
    neverInvoked: [...stored].filter((id) => !invoked.has(id)),
    refusedAndFound: refused.filter(({ id }) => isThere(id)).map(({ id, move }) => `${move} ${id}`),
    broken: lines.flatMap((line) => (line.is === 'broken' ? [`${line.move} ${line.id}: ${line.what}`] : [])),
    byMove,
  }
}

const count = (among: ReadonlyMap<string, number>, id: string): number => among.get(id) ?? 0

const hasNames = (line: LedgerLine, { ids }: Found): boolean =>
  line.is !== 'ok' || line.names.every((id) => ids.has(id))
