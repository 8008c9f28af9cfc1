import { type Chance, chanceFor } from '../chance.ts'
import { ask, MOVE_NAMES, MOVES, type Move, type MoveName, type Services } from '../crew/moves.ts'
import { World } from '../crew/world.ts'
import type { FuzzStore } from './fuzz-store.ts'
import { leftBehind } from './left-behind.ts'
import { inShort, type Outcome, outcomeOf } from './outcome.ts'
import { type Spoiling, spoilingFor } from './spoil.ts'

/** So many requests are about the same few conversations. */
const STEPS = 40
const FIRST = ['openConversation', 'startSession', 'recordTurn'] as const
const SPOILED = 0.6
/** Longer than any run: stores whose clocks differ then agree on what has expired. */
const AGES_MS = 6_000_000

/** Something that must not be, in words that are the same for alike findings. */
export type Finding = string

/** A store, and what a client knows of it. */
export interface Side {
  readonly on: FuzzStore
  readonly services: Services
  readonly world: World
}

/** The same requests, right ones and wrong ones, sent to every store until one of them answers differently. */
export class Episode {
  requests = 0
  wrong = 0
  /** Wrong ones that every store refused alike. */
  refused = 0
  readonly findings: Finding[] = []
  readonly #number: number
  readonly #sides: readonly Side[]
  readonly #chance: Chance
  readonly #taken: string[] = []

  constructor(stores: readonly FuzzStore[], seed: number, number: number) {
    const name = `episode-${number}`
    const alone = { name, agents: [`${name}-a`, `${name}-b`], keys: () => name, isAlone: true, longerMs: AGES_MS }
    this.#number = number
    this.#chance = chanceFor(seed, `${name} spoils`)
    this.#sides = stores.map((on) => {
      const services = on.servicesFor(number)
      return { on, services, world: new World(services, { ...alone, chance: chanceFor(seed, name) }) }
    })
  }

  async run(): Promise<void> {
    for (let step = 0; step < STEPS; step += 1) {
      const isAlike = await this.#step(FIRST[step] ?? this.#chance.one(MOVE_NAMES) ?? 'recordTurn', step)
      // What is stored differs from now on, and every answer would tell of it again.
      if (!isAlike) break
    }
    // Where nothing wrong was taken, there is nothing to look for before the end of the run.
    if (this.#taken.length > 0) this.findings.push(...(await leftBehind(this.#sides, this.#taken)))
  }

  async #step(move: MoveName, step: number): Promise<boolean> {
    const mark = uuidFor(this.#number, step)
    const planned = await this.#planned(move, mark)
    if (planned === undefined) return true
    const isNamed = this.#chance.happens(0.5)
    const asked = planned.map((request) => ({ ...request, ...(isNamed && { commandId: mark }) }))
    const isSpoiled = step >= FIRST.length && this.#chance.happens(SPOILED)
    const spoiling = isSpoiled ? spoilingFor(move, asked[0] ?? {}, this.#chance) : undefined
    const outcomes = await Promise.all(
      this.#sides.map((side, at) => send(side, move, (spoiling?.apply ?? same)(asked[at] ?? {}))),
    )
    this.requests += 1
    if (spoiling !== undefined) this.#count(`${move} with ${spoiling.field} ← ${spoiling.by}`, outcomes)
    const isAlike = new Set(outcomes.map(({ says }) => says)).size === 1
    this.#judge(move, spoiling, outcomes, isAlike)
    return isAlike
  }

  /** What to ask each store; nothing when there is nothing to ask it for. */
  async #planned(move: MoveName, mark: string): Promise<readonly object[] | undefined> {
    const { plan } = MOVES[move] as Move<object>
    try {
      const planned = await Promise.all(this.#sides.map(({ world }) => plan(world, mark)))
      const found = planned.filter((request) => request !== undefined)
      return found.length === planned.length ? found : undefined
    } catch (problem) {
      this.findings.push(`an answer that nobody can use after ${this.#taken.join(' | ')}: ${String(problem)}`)
      return undefined
    }
  }

  #count(what: string, outcomes: readonly Outcome[]): void {
    this.wrong += 1
    if (outcomes.every(({ answer, isThrown }) => answer === undefined && !isThrown)) this.refused += 1
    else if (outcomes.some(({ answer }) => answer !== undefined)) this.#taken.push(what)
  }

  #judge(move: MoveName, spoiling: Spoiling | undefined, outcomes: readonly Outcome[], isAlike: boolean): void {
    const right = [`${move}, a right request`, ...this.#taken].join(' after ')
    const what = spoiling === undefined ? right : `${move} with ${spoiling.field} ← ${spoiling.by}`
    const [first, ...others] = outcomes.map(inShort)
    // Alike in short, they differ in what is left out there.
    const isShort = others.some((other) => other !== first)
    const said = outcomes.map((out, at) => `${this.#sides[at]?.on.name} ${isShort ? inShort(out) : out.says}`)
    const { isThrown, answer } = outcomes[0] ?? {}
    if (!isAlike) this.findings.push(`differs: ${what}: ${said.join('; ')}`)
    else if (isThrown === true) this.findings.push(`throws: ${what}: ${first}`)
    else if (spoiling?.mustRefuse === true && answer !== undefined) this.findings.push(`accepted: ${what}`)
  }
}

const same = (request: object): unknown => request

const send = ({ services, world }: Side, move: MoveName, request: unknown): Promise<Outcome> =>
  outcomeOf(
    () => ask(services, move, request as object),
    (answer) => world.learn(answer),
  )

const uuidFor = (episode: number, step: number): string =>
  `01900000-0000-7000-9000-${(episode * 1_000 + step).toString(16).padStart(12, '0')}`
