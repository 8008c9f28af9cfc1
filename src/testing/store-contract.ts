import { auditContract } from './contract/audit-contract.ts'
import { budgetsContract } from './contract/budgets-contract.ts'
import { commandsContract } from './contract/commands-contract.ts'
import { conversationsContract } from './contract/conversations-contract.ts'
import { copiesContract } from './contract/copies-contract.ts'
import { delegationsContract } from './contract/delegations-contract.ts'
import { extensionsContract } from './contract/extensions-contract.ts'
import { fencesContract, holderTokensContract } from './contract/fences-contract.ts'
import { handoffsContract, renewalsContract } from './contract/handoffs-contract.ts'
import { inputsContract } from './contract/inputs-contract.ts'
import { jobsContract } from './contract/jobs-contract.ts'
import { leasesContract } from './contract/leases-contract.ts'
import { linksContract } from './contract/links-contract.ts'
import { lookBackSearchesContract, lookBacksContract } from './contract/look-backs-contract.ts'
import { monitorsContract } from './contract/monitors-contract.ts'
import { notesContract } from './contract/notes-contract.ts'
import { originsContract } from './contract/origins-contract.ts'
import { processesContract } from './contract/processes-contract.ts'
import { idSearchContract, queriesContract } from './contract/queries-contract.ts'
import { recordsContract } from './contract/records-contract.ts'
import { restartsContract } from './contract/restarts-contract.ts'
import { sessionsContract } from './contract/sessions-contract.ts'
import { threadSummariesContract } from './contract/thread-summaries-contract.ts'
import { unfinishedContract } from './contract/unfinished-contract.ts'
import { unitsContract } from './contract/units-contract.ts'
import { verifyingContract } from './contract/verifying-contract.ts'
import { windowsContract } from './contract/windows-contract.ts'
import { Scene, type StoreUnderTest } from './scene.ts'

/** The two functions of a test runner the contract needs: those of vitest, node:test, jest and mocha all fit. */
export interface Harness {
  readonly describe: (name: string, body: () => void) => unknown
  readonly it: (name: string, body: () => Promise<void>) => unknown
}

/** One part of the contract: a name, and cases that each get a scene of their own. */
export interface ContractPart {
  readonly about: string
  readonly cases: Readonly<Record<string, (scene: Scene) => Promise<void>>>
}

const PARTS: readonly ContractPart[] = [
  unitsContract,
  linksContract,
  commandsContract,
  inputsContract,
  fencesContract,
  holderTokensContract,
  copiesContract,
  notesContract,
  renewalsContract,
  conversationsContract,
  sessionsContract,
  leasesContract,
  processesContract,
  unfinishedContract,
  jobsContract,
  handoffsContract,
  restartsContract,
  budgetsContract,
  recordsContract,
  originsContract,
  extensionsContract,
  delegationsContract,
  queriesContract,
  idSearchContract,
  lookBacksContract,
  lookBackSearchesContract,
  threadSummariesContract,
  windowsContract,
  monitorsContract,
  auditContract,
  verifyingContract,
]

/**
 * The contract of every store. A store passes all of it, or it is not a store of Batonpass.
 *
 * @example
 * ```ts
 * import { describe, it } from 'node:test'
 *
 * const openMemoryStore = async () => {
 *   const clock = new FixedClock()
 *   const passTime = async (milliseconds: number) => clock.advance(milliseconds)
 *   return { store: new MemoryStore({ clock }), passTime }
 * }
 * storeContract(openMemoryStore, { describe, it })
 * ```
 */
export const storeContract = (make: () => Promise<StoreUnderTest>, { describe, it }: Harness): void => {
  for (const { about, cases } of PARTS) {
    describe(`store contract: ${about}`, () => {
      for (const [name, run] of Object.entries(cases)) it(name, async () => run(new Scene(await make())))
    })
  }
}
