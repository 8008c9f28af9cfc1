import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { type Chance, chanceFor } from './chance.ts'
import { checkStore, type StoreCheck } from './check/check-store.ts'
import { Crew } from './crew/crew.ts'
import { readLedgers } from './crew/ledger.ts'
import type { MoveName } from './crew/moves.ts'
import { type Fault, type Ground, wait } from './faults/fault.ts'
import type { OwnServer } from './faults/own-server.ts'
import type { ChaosOptions } from './options.ts'
import { clock, Progress } from './progress.ts'
import type { Row } from './row.ts'

/** What every phase works with. */
export interface Setting {
  readonly server: OwnServer
  readonly options: ChaosOptions
  /** The bundled worker. */
  readonly program: string
  /** Where logs go. */
  readonly folder: string
  /** Ends the run early, in good order. */
  readonly signal: AbortSignal
}

/** What a phase of faults came to, and which commands were acknowledged in it. */
export interface FaultPhase {
  readonly row: Row
  readonly moves: ReadonlyMap<MoveName, number>
}

/** How long workers are left alone after the last fault: what comes then shows that they have recovered. */
const QUIET_MS = 5_000

/** Lets a crew work under one kind of fault, and looks at what is left. */
export const runFault = async (fault: Fault, setting: Setting, milliseconds: number): Promise<FaultPhase> => {
  const prepared = await fault.prepare(setting.server)
  if ('notRun' in prepared)
    return { row: { phase: fault.name, cells: {}, problems: [], ...prepared }, moves: new Map() }
  await using ground = prepared
  const { options, folder } = setting
  const logs = join(folder, fault.name)
  mkdirSync(logs)
  const { seed, plant, workers } = options
  const orders = { store: ground.store, folder: logs, seed, ...(plant !== undefined && { plant }) }
  const { signal } = setting
  const crew = new Crew(setting.program, orders, workers)
  const { faults, afterwards } = await disturb(fault, {
    ground,
    crew,
    milliseconds,
    chance: chanceFor(seed, fault.name),
    signal,
  })
  const check = await checkStore(ground.direct, readLedgers(logs), async (client) => {
    if (plant === 'tampered')
      await client.query(`update batonpass.messages set text = 'Tampered' where sequence_number = 1`)
  })
  const minutes = milliseconds / 60_000
  const { acknowledged, failures } = check.reckoning
  const idle = idleness(fault, { faults, afterwards, acknowledged, failures }, minutes)
  return { row: rowOf(fault.name, faults, check, [...idle, ...crew.deaths]), moves: check.reckoning.byMove }
}

interface Disturbance {
  readonly ground: Ground
  readonly crew: Crew
  readonly milliseconds: number
  readonly chance: Chance
  readonly signal: AbortSignal
}

const disturb = async (fault: Fault, { ground, crew, milliseconds, chance, signal }: Disturbance) => {
  // Starting so many processes takes a while, and is no part of the phase.
  await crew.ready()
  const began = Date.now()
  let faults = 0
  using _ = new Progress(
    () =>
      `${fault.name.padEnd(10)} ${clock(Date.now() - began)} of ${clock(milliseconds)}  ` +
      `${faults} faults  ${crew.acknowledged.toLocaleString('en-US')} acknowledged`,
  )
  while (!signal.aborted && Date.now() - began < milliseconds - QUIET_MS) faults += await ground.inject(crew, chance)
  await ground.heal()
  const before = crew.acknowledged
  await wait(QUIET_MS)
  const afterwards = crew.acknowledged - before
  await crew.stop()
  return { faults, afterwards }
}

/** What was too little for the phase to prove anything. */
const idleness = (
  { least }: Fault,
  came: Readonly<Record<'faults' | 'acknowledged' | 'failures' | 'afterwards', number>>,
  minutes: number,
): readonly string[] => {
  const needed = { faults: Math.floor(least.faults * minutes), acknowledged: Math.ceil(least.acknowledged * minutes) }
  return [
    ...(came.faults < needed.faults ? [`only ${came.faults} faults, at least ${needed.faults} are needed`] : []),
    ...(came.acknowledged < needed.acknowledged
      ? [`only ${came.acknowledged} commands acknowledged, at least ${needed.acknowledged} are needed`]
      : []),
    ...(came.failures < (least.failures ?? 0) ? ['no client noticed any of the faults'] : []),
    ...(came.afterwards <= 0 ? ['nothing was acknowledged once the faults were over'] : []),
  ]
}

const rowOf = (phase: string, faults: number, check: StoreCheck, others: readonly string[]): Row => {
  const { reckoning, invariants, verified, notIntact, notFolded } = check
  const { lost, doubled, neverInvoked, refusedAndFound, broken } = reckoning
  const unfound = reckoning.acknowledged - reckoning.foundOnce
  return {
    phase,
    cells: {
      faults,
      invoked: reckoning.invoked,
      acknowledged: reckoning.acknowledged,
      refused: reckoning.refused,
      failures: reckoning.failures,
      'in doubt': reckoning.inDoubt,
      'found once': reckoning.foundOnce,
      lost: lost.length,
      doubled: doubled.length,
      'never invoked': neverInvoked.length,
      invariants: invariants.length === 0 ? 'hold' : `${invariants.length} broken`,
      verify:
        notIntact.length === 0
          ? `${verified.toLocaleString('en-US')} intact`
          : `${notIntact.length} of ${verified} wrong`,
    },
    problems: [
      ...others,
      ...lost.map((what) => `acknowledged and lost: ${what}`),
      ...doubled.map((what) => `done twice: ${what}`),
      ...neverInvoked.map((what) => `stored, and never asked for: ${what}`),
      ...refusedAndFound.map((what) => `refused, and stored all the same: ${what}`),
      ...(unfound > lost.length ? [`${unfound} acknowledged commands were not found exactly once`] : []),
      ...broken.map((what) => `an answer that must never come: ${what}`),
      ...invariants.map((what) => `does not hold: ${what}`),
      ...notIntact.map((what) => `does not verify: ${what}`),
      ...notFolded,
    ],
  }
}
