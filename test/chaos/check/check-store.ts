import pg from 'pg'
import { openPostgres } from '../../../src/adapters/postgres/open/open-postgres.ts'
import { sha256 } from '../../../src/ports/system/sha256.ts'
import { AuditService } from '../../../src/services/audit/audit-service.ts'
import type { LedgerLine } from '../crew/ledger.ts'
import { terminateAll } from '../faults/terminate.ts'
import { differsFromLog } from './fold.ts'
import { readFound } from './found.ts'
import { brokenInvariants } from './invariants.ts'
import { type Reckoning, reckon } from './reckoning.ts'

/** What a store was found to be after a phase. */
export interface StoreCheck {
  readonly reckoning: Reckoning
  readonly invariants: readonly string[]
  /** How many conversations were verified, and what was found wrong with any. */
  readonly verified: number
  readonly notIntact: readonly string[]
  readonly notFolded: readonly string[]
}

/** Looks at everything a phase has left in its database. What is still running there is ended first. */
export const checkStore = async (
  url: string,
  lines: readonly LedgerLine[],
  before: (client: pg.Client) => Promise<void> = async () => {},
): Promise<StoreCheck> => {
  await terminateAll(url)
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    await before(client)
    const reckoning = reckon(lines, await readFound(client))
    const invariants = await brokenInvariants(client)
    return { reckoning, invariants, ...(await verifyEverything(url)) }
  } finally {
    await client.end()
  }
}

const verifyEverything = async (url: string): Promise<Pick<StoreCheck, 'verified' | 'notIntact' | 'notFolded'>> => {
  await using store = await openPostgres({ connectionString: url, maxConnections: 4 })
  const notIntact: string[] = []
  const notFolded: string[] = []
  let verified = 0
  for await (const verdict of new AuditService({ store, sha256 }).verifyAll()) {
    const { conversationId } = verdict
    verified += 1
    if (!verdict.intact) notIntact.push(`conversation ${conversationId}: ${verdict.problem.detail}`)
    notFolded.push(...(await differsFromLog(store, conversationId)))
  }
  return { verified, notIntact, notFolded }
}
