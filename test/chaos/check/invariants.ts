import type pg from 'pg'
import { AUDIT_INVARIANTS } from './audit-invariants.ts'
import { HANDOFF_INVARIANTS } from './handoff-invariants.ts'
import { SESSION_INVARIANTS } from './session-invariants.ts'

/** Something that holds in every database at every moment: the query finds what breaks it. */
export interface Invariant {
  readonly name: string
  /** Gives a row for each thing that breaks it, and none while it holds. */
  readonly query: string
  /** Breaks it in a database where everything is in order, to show that the query would find it. */
  readonly breaks: string
}

/** Everything that must hold, in SQL: none of our own code says so. */
export const INVARIANTS: readonly Invariant[] = [...SESSION_INVARIANTS, ...HANDOFF_INVARIANTS, ...AUDIT_INVARIANTS]

/** Which invariants do not hold, each with how many rows break it and the first of them. */
export const brokenInvariants = async (client: pg.Client): Promise<readonly string[]> => {
  const broken: string[] = []
  for (const { name, query } of INVARIANTS) {
    const { rows } = await client.query(query)
    if (rows.length > 0) broken.push(`${name}: ${rows.length} (${JSON.stringify(rows[0])})`)
  }
  return broken
}
