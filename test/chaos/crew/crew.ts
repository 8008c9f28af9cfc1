import { type ChildProcess, fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import type { Chance } from '../chance.ts'
import type { WorkerOrders } from './worker.ts'

/** How many processes work at once. */
export const WORKERS = 20

/** How long a worker may take to finish its last command; one that is silent longer hangs, and that is a fault. */
const PATIENCE_MS = 60_000

interface Worker {
  readonly child: ChildProcess
  readonly ready: Promise<void>
  readonly ended: Promise<void>
  isKilled: boolean
  acknowledged: number
}

/** Worker processes on one database: started, killed, replaced, stopped. */
export class Crew {
  readonly #program: string
  readonly #orders: Omit<WorkerOrders, 'name'>
  readonly #workers = new Map<number, Worker>()
  readonly #before: number[] = []
  #started = 0
  #isStopping = false
  /** How those ended that nobody had killed. */
  readonly deaths: string[] = []

  /** @param program the URL of the bundled worker */
  constructor(program: string, orders: Omit<WorkerOrders, 'name'>, count = WORKERS) {
    this.#program = program
    this.#orders = orders
    for (let place = 0; place < count; place += 1) this.#start(place)
  }

  /** About how many commands were acknowledged so far; the logs have the exact number. */
  get acknowledged(): number {
    return [...this.#before, ...[...this.#workers.values()].map((worker) => worker.acknowledged)].reduce(
      (a, b) => a + b,
      0,
    )
  }

  /** Comes when everyone is at work, or has ended before. */
  async ready(): Promise<void> {
    await Promise.all([...this.#workers.values()].map(({ ready, ended }) => Promise.race([ready, ended])))
  }

  /** Kills one of those that have got something done, without a warning. Answers with how many were killed. */
  kill(chance: Chance): number {
    const worker = chance.one([...this.#workers.values()].filter(({ acknowledged }) => acknowledged > 0))
    if (worker === undefined || worker.isKilled) return 0
    worker.isKilled = true
    worker.child.kill('SIGKILL')
    return 1
  }

  /** Lets everyone finish the command at hand. */
  async stop(): Promise<void> {
    this.#isStopping = true
    const late = setTimeout(() => this.#endHanging(), PATIENCE_MS)
    for (const { child } of this.#workers.values()) if (child.connected) child.send('stop')
    await Promise.all([...this.#workers.values()].map(({ ended }) => ended))
    clearTimeout(late)
  }

  #endHanging(): void {
    for (const worker of this.#workers.values()) {
      if (worker.child.exitCode !== null || worker.child.signalCode !== null) continue
      this.deaths.push(`a worker was still busy ${PATIENCE_MS / 1_000} seconds after it was told to stop`)
      worker.isKilled = true
      worker.child.kill('SIGKILL')
    }
  }

  #start(place: number): void {
    this.#started += 1
    const orders: WorkerOrders = { ...this.#orders, name: `worker-${place}.${this.#started}` }
    const child = fork(fileURLToPath(this.#program), {
      env: { ...process.env, CHAOS_ORDERS: JSON.stringify(orders) },
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
      execArgv: [],
    })
    let log = ''
    child.stderr?.on('data', (chunk: Buffer) => {
      log = (log + chunk.toString()).slice(-3_000)
    })
    const ended = new Promise<void>((resolve) => child.once('close', () => resolve()))
    const ready = new Promise<void>((resolve) => child.once('message', () => resolve()))
    const worker: Worker = { child, ready, ended, isKilled: false, acknowledged: 0 }
    child.on('message', ({ acknowledged }: { readonly acknowledged: number }) => {
      worker.acknowledged = acknowledged
    })
    child.on('error', () => {})
    this.#workers.set(place, worker)
    void ended.then(() => this.#onEnd(place, worker, log))
  }

  #onEnd(place: number, worker: Worker, log: string): void {
    const { exitCode, signalCode } = worker.child
    const isExpected = worker.isKilled || (this.#isStopping && exitCode === 0)
    if (!isExpected) this.deaths.push(`a worker ended by itself (${signalCode ?? exitCode}): ${log.trim()}`)
    if (this.#isStopping) return
    this.#before.push(worker.acknowledged)
    this.#start(place)
  }
}
