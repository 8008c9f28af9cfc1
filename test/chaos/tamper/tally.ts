import type { Row } from '../row.ts'
import { allowance } from './allow-list.ts'
import type { Plan } from './tampering.ts'

/** What became of a tampering. */
export interface Attempt {
  readonly outcome: Outcome
  readonly detail: string
}

type Outcome =
  /** A constraint did not let it in. */
  | 'refused'
  | 'found'
  | 'missed'
  /** `verify` gave up with an error instead of a verdict. */
  | 'threw'
  /** There was no row to tamper with in this way. */
  | 'nothing'

/** Counts what became of tamperings, and lists what was missed by table and column. */
export class Tally {
  tried = 0
  readonly counts: Record<Outcome, number> = { refused: 0, found: 0, missed: 0, threw: 0, nothing: 0 }
  readonly #missed = new Map<string, number>()
  readonly #allowed = new Map<string, number>()

  count({ way, column: { table, name } }: Plan, { outcome, detail }: Attempt): void {
    this.counts[outcome] += 1
    if (outcome === 'nothing') return
    this.tried += 1
    if (outcome !== 'missed' && outcome !== 'threw') return
    const column = way === 'delete' || way === 'insert' ? undefined : name
    const what = `${outcome}: ${way} ${column === undefined ? table : `${table}.${column}`}${detail}`
    const list = allowance(way, table, column) === undefined ? this.#missed : this.#allowed
    list.set(what, (list.get(what) ?? 0) + 1)
  }

  row(needed: number): Row {
    const { found, refused } = this.counts
    const says = `${found} found, ${refused} refused, ${sum(this.#allowed)} allowed, ${sum(this.#missed)} missed`
    return {
      phase: 'tamper',
      cells: { faults: this.tried, verify: says },
      notes: [...this.#allowed].sort().map(([what, count]) => `allowed, ${what}, ${count} times`),
      problems: [
        ...(this.tried < needed ? [`only ${this.tried} tamperings, ${needed} are needed`] : []),
        ...[...this.#missed].sort().map(([what, count]) => `${what}, ${count} times`),
      ],
    }
  }
}

const sum = (counts: ReadonlyMap<string, number>): number => [...counts.values()].reduce((a, b) => a + b, 0)
