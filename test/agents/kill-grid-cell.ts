import { deepEqual, equal, ok } from 'node:assert/strict'
import { cpSync, existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { fileURLToPath } from 'node:url'
import { type Batonpass, createBatonpass, type Recovered } from '../../src/entry/index.ts'
import { RUNTIMES, runningIn, stage } from './claude-stage.ts'
import { ASKS, answerTo, type Cell, CHECKPOINT, FULL, hooksOf, TASK } from './kill-grid.ts'
import { runUntilKilled } from './kill-grid-process.ts'
import { type Account, accountOf, recordOf } from './kill-grid-record.ts'
import type { Script } from './messages-api.ts'
import { never } from './patience.ts'

const RUNNER = fileURLToPath(new URL('kill-grid-runner.ts', import.meta.url))

/** What was found in a cell, once it was finished by others. */
export interface Found extends Account {
  readonly sessions: number
  readonly restarts: number
}

/** The moments that only the API sees: then it is the API that kills the runner, and its answer never comes. */
const scriptFor = ({ point }: Cell, kill: () => void): Script => {
  let isKilled = false
  const atFirst = async (gone: AbortSignal): Promise<void> => {
    if (isKilled) return
    isKilled = true
    kill()
    await never(gone)
  }
  const question = { prompt: ASKS, text: CHECKPOINT, usage: FULL }
  const asking = point === 'asked for the checkpoint' ? { after: atFirst } : {}
  const play: Script['play'] = (body) => {
    const answer = answerTo(body)
    return point === 'launched, and nothing said yet' && !isKilled ? { ...answer, after: atFirst } : answer
  }
  return { play, question: { ...question, ...asking } }
}

/** What never got a session is nobody's to recover: whoever wants it done asks again. */
const finish = async (batonpass: Batonpass, cell: Cell, { home, runtime }: Awaited<ReturnType<typeof stage>>) => {
  const hooks = hooksOf(cell)
  const recovered = await batonpass.recover({ runtimes: [runtime], run: { hooks } })
  const said = (one: Recovered): string => (one.type === 'resumed' ? one.summary.outcome : one.type)
  const conversation = await batonpass.history.conversationByKey('grid')
  const [first] = conversation ? (await batonpass.history.sessions(conversation.id, { limit: 1 })).items : []
  if (first !== undefined) {
    const isOver = cell.point === 'the session is completed'
    deepEqual(recovered.map(said), isOver ? [] : ['completed'], 'it is taken over at once, and completed')
    return
  }
  const about = { agent: 'claude', prompt: TASK, conversation: 'grid', workspace: { workingDirectory: home } }
  const summary = await batonpass.run({ runtime, ...about, policy: 'auto', hooks }).finish()
  equal(summary.outcome, 'completed')
}

/** Kills a runner in its place, lets others finish the work, and compares what was shown with what is on record. */
export const playCell = async (t: TestContext, cell: Cell, emptyStore: string): Promise<Found> => {
  const make = RUNTIMES[cell.backend]
  ok(make)
  let kill = (): void => undefined
  const set = await stage(
    t,
    make,
    scriptFor(cell, () => kill()),
  )
  const { home, api } = set
  const dataDir = join(home, 'store')
  cpSync(emptyStore, dataDir, { recursive: true })
  const shown = await runUntilKilled(t, RUNNER, [dataDir, home, api.url, JSON.stringify(cell)], (ending) => {
    kill = ending
  })
  await using batonpass = await createBatonpass({ dataDir })
  await finish(batonpass, cell, set)
  deepEqual(runningIn(home), [], 'nothing is left at work')
  const ran = existsSync(join(home, 'ran')) ? readFileSync(join(home, 'ran'), 'utf8').trim().split('\n') : []
  const record = await recordOf(batonpass, 'grid')
  const states = record.sessions.map(({ state }) => state)
  deepEqual(states, [...states.slice(1).map(() => 'handed_off'), 'completed'])
  const handedOn = record.handoffs.map(({ status }) => status)
  deepEqual(handedOn, handedOn.length === 0 ? [] : ['completed'], 'one full window is handed on once')
  ok(record.isIntact, 'the audit log is intact')
  deepEqual(await batonpass.recover({ runtimes: [set.runtime] }), [], 'nothing is left to recover')
  const account = accountOf({ shown, ran, requests: api.requests, asked: api.asked }, record)
  deepEqual(account.missing, [], 'what was shown is on record')
  deepEqual(account.doubled, [], 'nothing is on record twice')
  return { ...account, sessions: record.sessions.length, restarts: record.handoffs.length }
}
