import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'
import { openPostgres } from '../../src/adapters/postgres/open/open-postgres.ts'
import { Scene } from '../../src/testing/scene.ts'
import { OwnServer } from '../chaos/faults/own-server.ts'
import { program } from '../support/bundle.ts'
import { Heard } from './heard.ts'

it('wakes again after the server was away, and once for what was missed', async () => {
  await using server = await OwnServer.start()
  await using store = await openPostgres({ connectionString: await server.database('wakes') })
  const scene = new Scene({ store, passTime: async () => {} })
  using heard = new Heard(store.wakeUps)
  await heard.told()
  for (const [times, awayMs] of [0, 500].entries()) {
    const missed = heard.agents.filter((agent) => agent === undefined).length
    await server.crash(awayMs)
    expect(await heard.told(2 * times + 3)).toEqual({ isHeard: true })
    expect(heard.states.at(-2)).toMatchObject({ isHeard: false })
    expect(heard.agents.filter((agent) => agent === undefined)).toHaveLength(missed + 1)
    const { handoff } = await scene.initiated({ targetAgent: `after ${times}` })
    await heard.woken(handoff.targetAgent)
  }
})

it('a store is closed to its end, though nothing is left of it but the connection that listens', async () => {
  await using server = await OwnServer.start()
  const closing = await program(fileURLToPath(new URL('./closing-process.ts', import.meta.url)))
  const env = { ...process.env, CLOSING_STORE: await server.database('closing') }
  // Else the process ends in the middle, with code 13: nothing else keeps it alive.
  const { stdout } = await promisify(execFile)(process.execPath, [closing], { env })
  expect(stdout).toBe('closed\n')
})
