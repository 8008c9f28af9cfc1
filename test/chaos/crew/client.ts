import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import type { Result } from '../../../src/domain/kernel/result.ts'
import type { Refusal } from '../../../src/domain/refusal.ts'
import { StoreFailure } from '../../../src/ports/store/store-failure.ts'
import type { Log } from './ledger.ts'
import { ask, MOVES, type Move, type MoveName, type Services } from './moves.ts'
import type { AnyAnswer, World } from './world.ts'

const CHOICES = (Object.keys(MOVES) as MoveName[]).map((name) => ({ name, weight: MOVES[name].weight }))

/** How a store that is down for a while is asked again, and when a client gives a command up as in doubt. */
const PATIENCE_MS = 30_000
const PAUSE_MS = 120

/** What a client works with beside its services and its world. */
export interface ClientOptions {
  readonly ledger: Log
  readonly plant?: Plant
  /** How long a command is tried again; half a minute unless given. */
  readonly patienceMs?: number
}

/** What a harness that is to be seen failing does wrong: clients once each, the others all the time. */
export type Plant = 'forged_ack' | 'unlogged' | 'idle' | 'tampered' | 'blind' | 'lenient'

/** Gives commands, each under a name of its own, and keeps a log of what was asked and answered. */
export class Client {
  acknowledged = 0
  invoked = 0
  readonly #services: Services
  readonly #world: World
  readonly #ledger: Log
  readonly #patienceMs: number
  #plant: Plant | undefined
  isStopping = false

  constructor(services: Services, world: World, { ledger, plant, patienceMs = PATIENCE_MS }: ClientOptions) {
    this.#services = services
    this.#world = world
    this.#ledger = ledger
    this.#plant = plant
    this.#patienceMs = patienceMs
  }

  /** Gives one command that there is something to give it for. */
  async step(): Promise<void> {
    const { chance } = this.#world
    const name = chance.weighted(CHOICES)?.name ?? 'recordTurn'
    const id = randomUUID()
    // The request is the one of this very move; the table as a whole cannot say so.
    const move = MOVES[name] as Move<object>
    const request = await this.#planned(move, id)
    if (request === undefined) return
    await this.#give({ name, id, move, request: { ...request, commandId: id } })
  }

  async #planned(move: Move<object>, id: string): Promise<object | undefined> {
    try {
      return await move.plan(this.#world, id)
    } catch (failure) {
      if (!(failure instanceof StoreFailure)) throw failure
      await pause(PAUSE_MS)
      return undefined
    }
  }

  async #give(given: Given): Promise<void> {
    const { name, id } = given
    const isUnlogged = this.#planted('unlogged')
    if (!isUnlogged) this.#ledger.write({ is: 'invoke', id, move: name })
    this.invoked += 1
    if (this.#planted('forged_ack')) {
      this.#ledger.write({ is: 'ok', id, move: name, keeps: true, names: [] })
      return
    }
    const result = await this.#untilAnswered(given)
    if (result === undefined || isUnlogged) return
    if (!result.ok) {
      this.#ledger.write({ is: 'refused', id, move: name, code: result.error.code })
      this.#world.forget(given.request)
      return
    }
    this.acknowledged += 1
    this.#ledger.write({ is: 'ok', id, move: name, keeps: keeps(given, result.value), names: namesIn(result.value) })
    this.#world.learn(result.value)
    if (this.#world.chance.happens(0.05)) await this.#again(given, result.value)
  }

  /** The answer; `undefined` when none came and it is not known whether the command was kept. */
  async #untilAnswered({ name, id, request }: Given): Promise<Result<AnyAnswer, Refusal> | undefined> {
    const began = Date.now()
    for (;;) {
      try {
        return (await ask(this.#services, name, request)) as Result<AnyAnswer, Refusal>
      } catch (failure) {
        if (!(failure instanceof StoreFailure)) {
          this.#ledger.write({ is: 'broken', id, move: name, what: described(failure) })
          return undefined
        }
        this.#ledger.write({ is: 'failed', id, move: name, code: failure.code })
        const isOver = Date.now() - began > this.#patienceMs
        // An outage ends, and so does a queue. A command that is overtaken all this time will never get through.
        if (isOver && failure.code === 'store.contention') {
          this.#ledger.write({ is: 'broken', id, move: name, what: `never got through: ${failure.message}` })
        }
        if (!failure.retryable || isOver || this.isStopping) return undefined
        await pause(PAUSE_MS)
      }
    }
  }

  /** A command given again under its name speaks of the same things. */
  async #again(given: Given, first: AnyAnswer): Promise<void> {
    const result = await this.#untilAnswered(given)
    const { name, id } = given
    if (result === undefined || !keeps(given, first)) return
    const isSame = result.ok && isDeepStrictEqual(namesIn(result.value).toSorted(), namesIn(first).toSorted())
    const second = result.ok ? JSON.stringify(namesIn(result.value)) : result.error.code
    const what = `repeated, it answered ${second} instead of ${JSON.stringify(namesIn(first))}`
    if (!isSame) this.#ledger.write({ is: 'broken', id, move: name, what })
  }

  #planted(plant: Plant): boolean {
    if (this.#plant !== plant || this.acknowledged < 3) return false
    this.#plant = undefined
    return true
  }
}

interface Given {
  readonly name: MoveName
  readonly id: string
  readonly move: Move<object>
  readonly request: object
}

const keeps = ({ move, id }: Given, answer: AnyAnswer): boolean => move.keeps?.(answer, id) ?? true

const namesIn = ({ conversation, session, handoff, turns = [], snapshot }: AnyAnswer): readonly string[] =>
  [conversation?.id, session?.id, handoff?.id, ...turns.map(({ id }) => id), snapshot?.id].filter(
    (id) => id !== undefined,
  )

const described = (problem: unknown): string =>
  problem instanceof Error ? (problem.stack ?? problem.message) : String(problem)
