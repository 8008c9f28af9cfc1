import { openPostgres } from '../../src/adapters/postgres/open/open-postgres.ts'
import { commandRuntime } from '../../src/adapters/runtime/command-runtime.ts'
import { createBatonpass } from '../../src/entry/index.ts'
import { windowReaders } from '../../src/main/runtimes.ts'
import { spokenLines } from '../embedded/spoken-lines.ts'

const WINDOW_READERS = await windowReaders()

/** Runs a command until it is killed: it is told the folder or the address of the store, where to work, and the command. */
const [place = '', workingDirectory = '', command = '', lease = '1500'] = process.argv.slice(2)

for await (const conversation of spokenLines()) {
  const isServer = place.startsWith('postgres')
  const store = isServer ? await openPostgres({ connectionString: place }) : undefined
  const batonpass = await createBatonpass(store === undefined ? { dataDir: place } : { store })
  const runtime = commandRuntime({ command, readers: WINDOW_READERS })
  const about = { workspace: { workingDirectory }, leaseMs: Number(lease), conversation }
  const run = batonpass.run({ runtime, agent: 'worker', prompt: 'Work', ...about })
  run.on((event) => console.log(JSON.stringify(event)))
  await run.finish()
}
