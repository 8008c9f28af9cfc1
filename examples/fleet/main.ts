import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { createBatonpass } from '../../src/entry/index.ts'
import { openPostgres } from '../../src/entry/postgres.ts'

const BATONPASS_DATABASE_URL = process.env.BATONPASS_DATABASE_URL ?? process.env.TEST_DATABASE_URL
if (BATONPASS_DATABASE_URL === undefined) throw new Error('Set BATONPASS_DATABASE_URL to a Postgres database.')
// On a server of yours `baton migrate up` does that, once.
await using store = await openPostgres({ connectionString: BATONPASS_DATABASE_URL, autoMigrate: true })
await using batonpass = await createBatonpass({ store })

/** Starts one of the programs beside this one, and prints what it says. */
const start = (program: string, ...args: readonly string[]): ChildProcess => {
  const path = fileURLToPath(new URL(program, import.meta.url))
  const env = { ...process.env, BATONPASS_DATABASE_URL }
  const child = spawn(process.execPath, ['--import', 'tsx', path, ...args], {
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  createInterface(child.stdout).on('line', (line) => console.log(line))
  return child
}

/** Waits until a process has said something. */
const heard = (child: ChildProcess): Promise<unknown> => once(child.stdout ?? child, 'data')

const coders = ['coder-1', 'coder-2'].map((name) => start('coder.ts', name))
await Promise.all(coders.map(heard))
const day = `${Date.now()}`
const jobs = ['login', 'search', 'prices', 'basket', 'mail', 'help'].map((job) => `${job}-${day}`)
const planner = start('planner.ts', ...jobs)
await once(planner, 'exit')

// The planner is gone by now. The record says when the coders are done.
const lineageOf = async (job: string) => {
  const conversation = await batonpass.history.conversationByKey(job)
  return conversation && (await batonpass.history.lineage(conversation.id))
}
const isDone = async (job: string) => (await lineageOf(job))?.sessions.at(-1)?.state === 'completed'
for (const job of jobs) while (!(await isDone(job))) await new Promise((resolve) => setTimeout(resolve, 100))
for (const coder of coders) coder.kill('SIGTERM')
await Promise.all(coders.map((coder) => once(coder, 'exit')))

for (const job of jobs) {
  const { sessions = [], handoffs = [] } = (await lineageOf(job)) ?? {}
  const who = sessions.map(({ agentName, backend }) => `${agentName} (${backend})`).join(' -> ')
  console.log(`${job.replace(`-${day}`, '')}: ${who}, ${handoffs.map(({ status }) => status).join()}`)
}
