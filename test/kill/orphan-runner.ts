import { commandRuntime } from '../../src/adapters/runtime/command-runtime.ts'
import { WINDOW_READERS } from '../../src/container.ts'
import { createBatonpass } from '../../src/index.ts'
import { spokenLines } from '../embedded/spoken-lines.ts'

/** Runs a command until it is killed: it is told the folder of the store, where to work, and the command. */
const [dataDir = '', workingDirectory = '', command = ''] = process.argv.slice(2)

for await (const conversation of spokenLines()) {
  const batonpass = await createBatonpass({ dataDir })
  const runtime = commandRuntime({ command, readers: WINDOW_READERS })
  const workspace = { workingDirectory }
  const run = batonpass.run({ runtime, agent: 'worker', prompt: 'Work', conversation, workspace, leaseMs: 1_500 })
  run.on((event) => console.log(JSON.stringify(event)))
  await run.finish()
}
