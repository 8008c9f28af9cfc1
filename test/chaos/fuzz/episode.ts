import { isDeepStrictEqual } from 'node:util'
import { chanceFor } from '../chance.ts'
import { readEverything } from '../check/fold.ts'
import { ask, MOVE_NAMES, MOVES, type Move, type MoveName } from '../crew/moves.ts'
import { World } from '../crew/world.ts'
import type { FuzzStore } from './fuzz-store.ts'
import { inShort, type Outcome, outcomeOf } from './outcome.ts'
import { type Spoiling, spoilingFor } from './spoil.ts'

/** So many requests are about the same few conversations. */
const STEPS = 40

/** Something that must not be, in words that are the same for alike findings. */
export type Finding = string

/** What a run of requests came to. */
export interface Episode {
  readonly requests: number
  readonly wrong: number
  readonly refused: number
  readonly findings: readonly Finding[]
}

interface Side {
  readonly on: FuzzStore
  readonly world: World
}

/** Sends the same requests, right ones and wrong ones, to every store, until one of them answers differently. */
export const runEpisode = async (stores: readonly FuzzStore[], seed: number, number: number): Promise<Episode> => {
  const name = `episode-${number}`
  const sides = stores.map((on): Side => {
    const chance = chanceFor(seed, name)
    const agents = [`${name}-a`, `${name}-b`]
    return { on, world: new World(on.services.handoffs, { name, chance, agents, keys: () => name, isAlone: true }) }
  })
  const chance = chanceFor(seed, `${name} spoils`)
  const findings: Finding[] = []
  const taken: string[] = []
  let [requests, wrong, refused] = [0, 0, 0]
  while (requests < STEPS) {
    const move =
      requests < 3 ? (['openConversation', 'startSession', 'recordTurn'] as const)[requests] : chance.one(MOVE_NAMES)
    const mark = uuidFor(number, requests)
    requests += 1
    if (move === undefined) continue
    const asked = await Promise.all(sides.map(({ world }) => (MOVES[move] as Move<object>).plan(world, mark)))
    const [first] = asked
    if (first === undefined || asked.includes(undefined)) continue
    const isNamed = chance.happens(0.5)
    const named = asked.map((request) => ({ ...request, ...(isNamed && { commandId: mark }) }))
    const spoiling = requests > 3 && chance.happens(0.6) ? spoilingFor(move, named[0] ?? {}, chance) : undefined
    const outcomes = await Promise.all(sides.map((side, at) => send(side, move, spoiling, named[at] ?? {})))
    if (spoiling !== undefined) {
      wrong += 1
      if (outcomes.every(({ answer, isThrown }) => answer === undefined && !isThrown)) refused += 1
      else if (outcomes.some(({ answer }) => answer !== undefined)) taken.push(described(move, spoiling))
    }
    findings.push(...judged(move, spoiling, outcomes, stores))
    if (new Set(outcomes.map(({ says }) => says)).size > 1) break
  }
  findings.push(...(await leftBehind(sides, taken)))
  return { requests, wrong, refused, findings }
}

const send = async (
  { on, world }: Side,
  move: MoveName,
  spoiling: Spoiling | undefined,
  request: object,
): Promise<Outcome> => {
  const outcome = await outcomeOf(() =>
    ask(on.services, move, (spoiling ? spoiling.apply(request) : request) as object),
  )
  if (outcome.answer !== undefined) world.learn(outcome.answer)
  return outcome
}

const described = (move: MoveName, { field, by }: Spoiling): string => `${move} with ${field} ← ${by}`

const judged = (
  move: MoveName,
  spoiling: Spoiling | undefined,
  outcomes: readonly Outcome[],
  stores: readonly FuzzStore[],
): readonly Finding[] => {
  const what = spoiling === undefined ? `${move}, a right request` : described(move, spoiling)
  const [first] = outcomes
  if (first === undefined) return []
  if (new Set(outcomes.map(({ says }) => says)).size > 1) {
    return [`differs: ${what}: ${outcomes.map((outcome, at) => `${stores[at]?.name} ${inShort(outcome)}`).join('; ')}`]
  }
  if (first.isThrown) return [`throws: ${what}: ${inShort(first)}`]
  return spoiling?.mustRefuse === true && first.answer !== undefined ? [`accepted: ${what}`] : []
}

/** Everything an episode has left is intact, can be read, and is the same on every store. */
const leftBehind = async (sides: readonly Side[], taken: readonly string[]): Promise<readonly Finding[]> => {
  const findings: Finding[] = []
  const after = taken.length === 0 ? 'right requests only' : taken.join(' | ')
  for (const { on, world } of sides) {
    for (const id of world.conversations) {
      const verdict = await outcomeOf(async () => {
        const verified = await on.audit.verify(id)
        return verified.ok && !verified.value.intact
          ? Promise.reject(new Error(verified.value.problem.class))
          : verified
      })
      if (verdict.isThrown) findings.push(`does not verify: on ${on.name} after ${after}: ${inShort(verdict)}`)
      const read = await outcomeOf(async () => ({ ok: true, value: (await readEverything(on.store, id)) as object }))
      if (read.isThrown) findings.push(`cannot be read: on ${on.name} after ${after}: ${inShort(read)}`)
    }
  }
  const met = sides.map(({ world }) => world.conversations)
  if (!met.every((ids) => isDeepStrictEqual(ids, met[0])))
    findings.push(`differs: the stores have met other conversations after ${after}`)
  return findings
}

const uuidFor = (episode: number, step: number): string =>
  `01900000-0000-7000-9000-${(episode * 1_000 + step).toString(16).padStart(12, '0')}`
