import { deepEqual, equal, ok } from 'node:assert/strict'
import { cpSync, existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { fileURLToPath } from 'node:url'
import { type Batonpass, createBatonpass } from '../../src/entry/index.ts'
import { runningIn } from './claude-stage.ts'
import { runUntilKilled } from './kill-grid-process.ts'
import { type Kept, recordOf } from './kill-grid-record.ts'
import { never } from './patience.ts'
import { BOTH, codersNext, DONE_BOTH, FIRST, LEGS, plannersNext, SECOND, type TransferCell } from './transfer-grid.ts'
import { castAt, type Played, setUp } from './transfer-grid-stage.ts'

const RUNNER = fileURLToPath(new URL('transfer-grid-runner.ts', import.meta.url))

/** What was found in a cell, once it was finished by others. */
export interface FoundTransfer {
  readonly seen: number
  readonly missing: readonly string[]
  readonly doubled: readonly string[]
}

/** The two agents of a cell. At the moments that only an API sees it is the API that kills the runner, and its answer never comes. */
const setUpBoth = async (t: TestContext, { leg, point }: TransferCell, kill: () => void) => {
  let isKilled = false
  const killAt = (moment: 'turn' | 'question' | undefined) => async (what: 'turn' | 'question', gone: AbortSignal) => {
    if (isKilled || what !== moment) return
    isKilled = true
    kill()
    await never(gone)
  }
  const [from, to] = LEGS[leg]
  const asking = killAt(point === 'asked for the checkpoint' ? 'question' : undefined)
  const launching = killAt(point === 'launched, and nothing said yet' ? 'turn' : undefined)
  const planner = await setUp(t, { backend: from, next: plannersNext, before: asking, numberedAfter: 0 })
  const coder = await setUp(t, { backend: to, next: codersNext, before: launching, numberedAfter: 1_000 })
  return { planner, coder }
}

/** Finishes the work as a further run does, or as a worker for both agents. */
const finish = async (batonpass: Batonpass, { by }: TransferCell, { planner, coder }: Both) => {
  const agents = castAt([planner, coder])
  if (by === 'run') {
    const workspace = { workingDirectory: planner.home }
    const about = { agents, start: 'planner', prompt: BOTH, conversation: 'grid', workspace, policy: 'auto' } as const
    const { outcome, reason } = await batonpass.run(about).finish()
    return deepEqual([outcome, reason], ['completed', undefined])
  }
  const stop = new AbortController()
  const working = batonpass.work({ agents, signal: stop.signal, pollMs: { least: 50, most: 200 } })
  const isOver = async (): Promise<boolean> =>
    (await recordOf(batonpass, 'grid')).sessions.at(-1)?.state === 'completed'
  while (!(await isOver())) await new Promise((resolve) => setTimeout(resolve, 200))
  stop.abort()
  await working
}

interface Both {
  readonly planner: Played
  readonly coder: Played
}

/** Kills a runner in the middle of a transfer, lets others finish it, and compares what was seen with what is on record. */
export const playTransfer = async (t: TestContext, cell: TransferCell, emptyStore: string): Promise<FoundTransfer> => {
  let kill = (): void => undefined
  const both = await setUpBoth(t, cell, () => kill())
  const { planner, coder } = both
  const dataDir = join(planner.home, 'store')
  cpSync(emptyStore, dataDir, { recursive: true })
  const places = [planner, coder].map(({ backend, home, url }) => ({ backend, home, url }))
  const args = [dataDir, planner.home, JSON.stringify(cell), JSON.stringify(places)]
  const shown = await runUntilKilled(t, RUNNER, args, (ending) => {
    kill = ending
  })
  await using batonpass = await createBatonpass({ dataDir })
  await finish(batonpass, cell, both)
  for (const { home } of [planner, coder]) deepEqual(runningIn(home), [], 'nothing is left at work')
  const record = await recordOf(batonpass, 'grid')
  handedOnOnce(record)
  deepEqual(await batonpass.recover({ agents: castAt([planner, coder]) }), [], 'nothing is left to recover')
  const [opening = ''] = coder.sent
  for (const words of [BOTH, 'Said quokka alone', 'The first word is said.'])
    ok(opening.includes(words), `${words} is in the first request of the successor: ${opening.slice(-3_000)}`)
  const found = accountOf({ shown, ...both }, record)
  deepEqual(found.missing, [], 'what was seen is on record')
  deepEqual(found.doubled, [], 'nothing is on record twice, and nothing was done twice')
  return found
}

const handedOnOnce = ({ sessions, handoffs, isIntact }: Kept): void => {
  const states = sessions.map(({ agentName, state }) => [agentName, state])
  const ends = [
    ['planner', 'handed_off'],
    ['coder', 'completed'],
  ]
  deepEqual(states, ends, 'each session is there once')
  const passed = handoffs.map(({ kind, status, targetAgent }) => [kind, status, targetAgent])
  deepEqual(passed, [['agent_transfer', 'completed', 'coder']], 'the work is handed over once')
  const [handoff] = handoffs
  equal(handoff?.status === 'completed' && handoff.targetSessionId, sessions[1]?.id)
  ok(isIntact, 'the audit log is intact')
}

const CALL = /"(?:call_id|id)":"((?:toolu|call)_\d+)"/g
const TOLD = [`heard-${FIRST}`, `heard-${SECOND}`, DONE_BOTH]

/** The calls, results and answers in a text. A command names its word before it is said: what is told stands alone. */
const thingsIn = (text: string): readonly string[] => {
  const plain = text.replaceAll('\\', '')
  const calls = [...plain.matchAll(CALL)].map(([, id = '']) => id)
  return [...calls, ...TOLD.filter((words) => plain.replaceAll(`echo ${words}`, '').includes(words))]
}

/** Compares what the caller was shown, what the agents knew and what their tools did with what is on record. */
const accountOf = (
  { shown, planner, coder }: Both & { readonly shown: string },
  { handoffs, messages, calls }: Kept,
): FoundTransfer => {
  const ranIn = join(planner.home, 'ran')
  const ran = existsSync(ranIn) ? readFileSync(ranIn, 'utf8').trim().split('\n') : []
  const seen = [...new Set([shown, ...planner.sent, ...coder.sent].flatMap(thingsIn))]
  const told = messages.filter(({ role }) => role !== 'user').map(({ text }) => thingsIn(text))
  const extracts = handoffs.flatMap(({ extract = '' }) => thingsIn(extract))
  const kept = [...calls.map(({ callId }) => callId), ...told.flat(), ...extracts]
  const count = (thing: string): number => kept.filter((one) => one === thing).length
  const again = [FIRST, SECOND].filter((word) => ran.filter((said) => said === word).length > 1)
  return {
    seen: seen.length,
    missing: seen.filter((thing) => count(thing) === 0),
    doubled: [...seen.filter((thing) => count(thing) > 1), ...again.map((word) => `${word} was said again`)],
  }
}
