import { appendFileSync } from 'node:fs'
import { join } from 'node:path'
import { runHook } from '../../src/main/hook.ts'

// `baton hook` as main.ts runs it. For `serve` it writes down how it was started, and ends.
const [word, ...others] = process.argv.slice(2)
if (word === 'serve') {
  // Hooks start it in the folder of the service.
  const folder = process.cwd()
  const started = { pid: process.pid, args: others, environment: Object.keys(process.env).sort(), cwd: process.cwd() }
  appendFileSync(join(folder, 'starts.log'), `${JSON.stringify(started)}\n`)
  console.log('the service says hello')
} else {
  await runHook(others)
}
process.exit(0)
