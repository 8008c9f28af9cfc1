import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { startDatabases } from '../support/test-databases.ts'
import { attacks as agentAttacks } from './agent-attacks.ts'
import { attacks as roleAttacks } from './role-attacks.ts'
import { attacks as serviceAttacks } from './service-attacks.ts'
import { type Attack, makeUser, setStage } from './stage.ts'

/**
 * Attacks Batonpass from outside: as a second user of the machine, with a stolen password of the database, and as an
 * agent that prints what it likes. `npm run test:security`; it needs root, because it makes that user and removes it.
 */
const rooms: Readonly<Record<string, readonly Attack[]>> = {
  'a second user': serviceAttacks,
  'a stolen role': roleAttacks,
  'an agent': agentAttacks,
}

const refuse = (why: string): never => {
  console.error(`security: ${why}`)
  process.exit(2)
}
if (process.getuid?.() !== 0) refuse('these attacks make a second user, so they need root. Run them in a container.')
if (!existsSync(fileURLToPath(new URL('../../dist/adapters/cli/main.js', import.meta.url))))
  refuse('there is no dist/. Run "npm run build" first.')

const only = process.argv.slice(2)
const counts = { passed: 0, failed: 0 }
const { environment, stop } = await startDatabases()
Object.assign(process.env, environment)
const user = makeUser()
// Whatever ends this script, the user it made is removed.
const leave = (): void => {
  user[Symbol.dispose]()
  process.exit(130)
}
process.on('SIGINT', leave)
process.on('SIGTERM', leave)
try {
  for (const [room, attacks] of Object.entries(rooms)) {
    for (const attack of attacks) {
      if (only.length > 0 && !only.some((word) => `${room}: ${attack.name}`.includes(word))) continue
      using stage = setStage(user)
      try {
        await attack.run(stage)
        counts.passed += 1
        console.log(`held     ${room}: ${attack.name}`)
      } catch (error) {
        counts.failed += 1
        console.log(
          `BROKEN   ${room}: ${attack.name}\n         ${error instanceof Error ? error.message : String(error)}`,
        )
      }
    }
  }
} finally {
  user[Symbol.dispose]()
  await stop()
}
console.log(`${counts.passed} passed, ${counts.failed} failed`)
process.exitCode = counts.failed === 0 && counts.passed > 0 ? 0 : 1
