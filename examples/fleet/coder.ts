import { createBatonpass } from '../../src/entry/index.ts'
import { openPostgres } from '../../src/entry/postgres.ts'
import { ScriptedRuntime } from '../../src/entry/testing.ts'

// Works for "coder" until it gets SIGTERM; then it finishes the job it has.
const [name = 'coder'] = process.argv.slice(2)
const stop = new AbortController()
process.once('SIGTERM', () => stop.abort())

await using store = await openPostgres({ connectionString: process.env.BATONPASS_DATABASE_URL ?? '' })
await using batonpass = await createBatonpass({ store })
// A real runtime goes here. This one takes its time for an answer, as models do.
const runtime = new ScriptedRuntime({
  backend: name,
  windows: [{ turns: [{ text: 'It is built.', tools: ['edit', 'run_tests'] }] }],
  onStep: () => new Promise((resolve) => setTimeout(resolve, 150)),
})
console.log(`${name}: ready`)
const { ended } = await batonpass.work({
  agents: { coder: runtime },
  signal: stop.signal,
  pollMs: { least: 20, most: 100 },
})
console.log(`${name}: ${ended.completed ?? 0} completed`)
