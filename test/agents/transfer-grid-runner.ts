import { openPglite } from '../../src/adapters/postgres/embedded/open-pglite.ts'
import { createBatonpass } from '../../src/entry/index.ts'
import { killerFor } from '../kill/killing-store.ts'
import { BOTH, planOfTransfer, type TransferCell } from './transfer-grid.ts'
import { castAt, type Place } from './transfer-grid-stage.ts'

/** Runs two real agents and ends itself where its cell says. Every message is shown: a line of JSON on standard output. */
const [dataDir = '', home = '', given = '', places = ''] = process.argv.slice(2)
const cell = JSON.parse(given) as TransferCell

const store = killerFor(planOfTransfer(cell), 'SIGKILL').around(await openPglite({ dataDir }))
const batonpass = await createBatonpass({ store })
const run = batonpass.run({
  ...{ agents: castAt(JSON.parse(places) as readonly Place[]), start: 'planner', prompt: BOTH, conversation: 'grid' },
  workspace: { workingDirectory: home },
  policy: 'auto',
  // A worker waits for the claim of a runner that is lost, and knows by its process that the session is free.
  leaseMs: cell.by === 'worker' ? 2_000 : 3_600_000,
})
for await (const message of run) console.log(JSON.stringify(message))
console.log(JSON.stringify({ type: 'over', summary: await run.summary }))
