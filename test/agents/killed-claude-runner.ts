import { createBatonpass } from '../../src/entry/index.ts'
import { environmentOf, RUNTIMES } from './claude-stage.ts'

/** Runs the real thing until it is killed: it is told the folder of the store, the home, the API and the runtime. */
const [dataDir = '', home = '', url = '', backend = '', prompt = ''] = process.argv.slice(2)

const runtime = RUNTIMES[backend]?.(environmentOf(home, url))
if (runtime === undefined) throw new Error(`There is no runtime ${backend}`)
const batonpass = await createBatonpass({ dataDir })
const workspace = { workingDirectory: home }
await batonpass.run({ runtime, agent: 'claude', prompt, conversation: 'killed', workspace, leaseMs: 3_000 }).finish()
