import { spawn } from 'node:child_process'
import { startDatabases } from '../test/support/test-databases.ts'

/** Runs a command with test databases at hand: `node --import tsx scripts/with-postgres.ts npm run features`. */
const [command, ...args] = process.argv.slice(2)
if (command === undefined) {
  console.error('with-postgres: say which command to run')
  process.exit(2)
}
const { environment, stop } = await startDatabases()
const child = spawn(command, args, { stdio: 'inherit', env: { ...process.env, ...environment } })
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => child.kill(signal))
const status = await new Promise<number>((resolve) => {
  child.once('error', () => resolve(127))
  child.once('exit', (code) => resolve(code ?? 1))
})
await stop()
process.exitCode = status
