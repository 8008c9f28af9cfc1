import { openPglite } from '../../src/adapters/postgres/embedded/open-pglite.ts'
import { createBatonpass } from '../../src/entry/index.ts'
import { killerFor } from '../kill/killing-store.ts'
import { environmentOf, RUNTIMES } from './claude-stage.ts'
import { type Cell, hooksOf, planOf, TASK } from './kill-grid.ts'

/** Runs the real thing and ends itself where its cell says. Every message is shown: a line of JSON on standard output. */
const [dataDir = '', home = '', url = '', json = ''] = process.argv.slice(2)
const cell = JSON.parse(json) as Cell

const runtime = RUNTIMES[cell.backend]?.(environmentOf(home, url))
if (runtime === undefined) throw new Error(`There is no runtime ${cell.backend}`)
const store = killerFor(planOf(cell), 'SIGKILL').around(await openPglite({ dataDir }))
const batonpass = await createBatonpass({ store })
const about = { agent: 'claude', prompt: TASK, conversation: 'grid', workspace: { workingDirectory: home } }
const run = batonpass.run({ runtime, ...about, policy: 'auto', hooks: hooksOf(cell), leaseMs: 3_600_000 })
for await (const message of run) console.log(JSON.stringify(message))
console.log(JSON.stringify({ type: 'over', summary: await run.summary }))
