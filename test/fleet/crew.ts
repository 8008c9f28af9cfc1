import { type ChildProcess, fork } from 'node:child_process'
import type { Chance } from '../chaos/chance.ts'
import type { FleetOrders } from './worker.ts'

interface Member {
  readonly child: ChildProcess
  readonly ended: Promise<void>
  isReady: boolean
  isKilled: boolean
  isStopped: boolean
}

/** How long a worker may take to end in good order. */
const PATIENCE_MS = 90_000

/** The processes of a fleet: killed and replaced, stopped for a while, and ended. */
export class FleetCrew {
  readonly #program: string
  readonly #orders: Omit<FleetOrders, 'place' | 'name'>
  readonly #members = new Map<number, Member>()
  #started = 0
  #isEnding = false
  kills = 0
  stops = 0
  /** How those ended that nobody had killed. */
  readonly deaths: string[] = []

  constructor(program: string, orders: Omit<FleetOrders, 'place' | 'name'>, count: number) {
    this.#program = program
    this.#orders = orders
    for (let place = 0; place < count; place += 1) this.#start(place)
  }

  /** The processes that live now. */
  get pids(): readonly number[] {
    return [...this.#members.values()].flatMap(({ child: { pid } }) => (pid === undefined ? [] : [pid]))
  }

  /** Comes when everyone is at work. */
  async ready(): Promise<void> {
    while (![...this.#members.values()].every(({ isReady }) => isReady))
      await new Promise((resolve) => setTimeout(resolve, 50))
  }

  /** Kills one that works, without a warning. */
  kill(chance: Chance): void {
    const member = this.#oneOf(chance)
    if (member === undefined) return
    member.isKilled = true
    member.child.kill('SIGKILL')
    this.kills += 1
  }

  /** Stops one for so long: it knows nothing of it, and goes on where it was. */
  stopFor(chance: Chance, milliseconds: number): void {
    const member = this.#oneOf(chance)
    if (member === undefined) return
    member.isStopped = true
    member.child.kill('SIGSTOP')
    this.stops += 1
    setTimeout(() => {
      member.isStopped = false
      member.child.kill('SIGCONT')
    }, milliseconds)
  }

  /** Asks everyone to end in good order. */
  async end(): Promise<void> {
    this.#isEnding = true
    const members = [...this.#members.values()]
    for (const { child } of members) {
      child.kill('SIGCONT')
      child.kill('SIGTERM')
    }
    const late = setTimeout(() => this.#endHanging(), PATIENCE_MS)
    await Promise.all(members.map(({ ended }) => ended))
    clearTimeout(late)
  }

  /** One that works, while more than half of them do: on a slow machine all would be starting, and none working. */
  #oneOf(chance: Chance): Member | undefined {
    const working = [...this.#members.values()].filter((one) => one.isReady && !one.isKilled && !one.isStopped)
    return working.length > this.#members.size / 2 ? chance.one(working) : undefined
  }

  #endHanging(): void {
    for (const { child } of this.#members.values()) {
      if (child.exitCode !== null || child.signalCode !== null) continue
      this.deaths.push('a worker did not end though it was told to')
      child.kill('SIGKILL')
    }
  }

  #start(place: number): void {
    this.#started += 1
    const orders: FleetOrders = { ...this.#orders, place, name: `w${place}.${this.#started}` }
    const child = fork(this.#program, {
      env: { ...process.env, FLEET_ORDERS: JSON.stringify(orders) },
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
      execArgv: [],
    })
    let log = ''
    child.stderr?.on('data', (chunk: Buffer) => {
      log = (log + chunk.toString()).slice(-3_000)
    })
    const ended = new Promise<void>((resolve) => child.once('close', () => resolve()))
    const member: Member = { child, ended, isReady: false, isKilled: false, isStopped: false }
    child.once('message', () => {
      member.isReady = true
    })
    child.on('error', () => {})
    this.#members.set(place, member)
    void ended.then(() => this.#onEnd(place, member, log))
  }

  #onEnd(place: number, { child, isKilled, isReady }: Member, log: string): void {
    const { exitCode, signalCode } = child
    const isExpected = isKilled || (this.#isEnding && (exitCode === 0 || !isReady))
    if (!isExpected) this.deaths.push(`a worker ended by itself (${signalCode ?? exitCode}): ${log.trim()}`)
    if (!this.#isEnding) this.#start(place)
  }
}
