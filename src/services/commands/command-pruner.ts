import { LEAST_RETENTION_MS } from '../../domain/kernel/retention-time.ts'
import type { CommandRetention } from '../../ports/store/command-retention.ts'
import type { Logger } from '../../ports/system/logger.ts'
import { errorFields } from './safe-logger.ts'

/** How many commands are forgotten in one step: few enough that nobody waits for it. */
const STEP = 500

/** A program that lives long looks about once an hour, and forgets so much at once at most; the rest waits. */
const EVERY_MS = LEAST_RETENTION_MS
const MOST_STEPS = 20

/** Forgets commands older than `keepMs`, step by step, and reports after each step how many were forgotten so far. */
export async function* pruneCommands(
  commands: CommandRetention,
  keepMs: number,
  signal?: AbortSignal,
): AsyncGenerator<number, number> {
  for (let pruned = 0; ; ) {
    signal?.throwIfAborted()
    const step = await commands.prune(keepMs, STEP)
    pruned += step
    if (step > 0) yield pruned
    if (step < STEP) return pruned
  }
}

/**
 * Forgets old commands now and then, for as long as a program lives.
 *
 * The time between is random, so that programs that started together do not prune together. It keeps no process
 * alive. When the store fails, nothing is done until the next time: the program's own commands report the failure.
 */
export class CommandPruner {
  readonly #commands: CommandRetention
  readonly #keepMs: number
  readonly #logger: Logger | undefined
  #timer: NodeJS.Timeout | undefined
  #isStopped = false

  constructor(commands: CommandRetention, keepMs: number, logger?: Logger) {
    this.#commands = commands
    this.#logger = logger
    this.#keepMs = keepMs
    this.#wait()
  }

  /** Stops, with no more than the step that is under way. */
  stop(): void {
    this.#isStopped = true
    clearTimeout(this.#timer)
  }

  #wait(): void {
    this.#timer = setTimeout(() => void this.#prune(), EVERY_MS * (0.5 + Math.random())).unref()
  }

  async #prune(): Promise<void> {
    try {
      let steps = 0
      for await (const _ of pruneCommands(this.#commands, this.#keepMs)) {
        steps += 1
        if (this.#isStopped || steps >= MOST_STEPS) break
      }
    } catch (error) {
      // Nothing is lost: they are forgotten another time.
      this.#logger?.warn(errorFields(error), 'old commands were not forgotten')
    }
    if (!this.#isStopped) this.#wait()
  }
}
