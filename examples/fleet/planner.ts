import { createBatonpass } from '../../src/entry/index.ts'
import { openPostgres } from '../../src/entry/postgres.ts'
import { ScriptedRuntime } from '../../src/entry/testing.ts'

// Plans every job it is given, and hands each to "coder". Nobody of that name is here: the handoff waits for a worker.
const jobs = process.argv.slice(2)
await using store = await openPostgres({ connectionString: process.env.BATONPASS_DATABASE_URL ?? '' })
await using batonpass = await createBatonpass({ store })
for (const job of jobs) {
  const handsOver = { to: 'coder', reason: 'The plan stands.', document: `The plan for ${job} is in docs/${job}.md.` }
  // A real runtime goes here. The agent is offered the tool `handoff`, and calls it by itself.
  const runtime = new ScriptedRuntime({ windows: [{ turns: [{ text: 'Planned.', tools: ['write'], handsOver }] }] })
  const run = batonpass.run({
    agents: { planner: runtime },
    start: 'planner',
    prompt: `Build ${job}`,
    conversation: job,
  })
  const { outcome } = await run.finish()
  console.log(`planner: ${job} is ${outcome.replace('_', ' ')}`)
}
