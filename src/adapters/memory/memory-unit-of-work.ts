import { asksTheSame } from '../../domain/audit/command-seal.ts'
import { defined } from '../../domain/kernel/defined.ts'
import type { Instant } from '../../domain/kernel/instant.ts'
import type {
  CommandStamp,
  CommitOutcome,
  Loaded,
  Question,
  Repeated,
  Subjects,
  Unit,
  UnitOfWork,
} from '../../ports/store/unit-of-work.ts'
import { sha256 } from '../../ports/system/sha256.ts'
import type { Clock } from '../../ports/system/system.ts'
import { commitTo } from './commit.ts'
import { frozenCopy } from './frozen-copy.ts'
import { factsFor } from './subject-facts.ts'
import type { Tables } from './tables.ts'
import type { MemoryWakeUps } from './wake-ups.ts'

/** Reads and writes tables in memory, each read and each write in one go. Its clock is the one claims are compared by. */
export class MemoryUnitOfWork implements UnitOfWork {
  readonly #tables: Tables
  readonly #clock: Clock
  readonly #wakeUps: MemoryWakeUps

  constructor(tables: Tables, clock: Clock, wakeUps: MemoryWakeUps) {
    this.#tables = tables
    this.#clock = clock
    this.#wakeUps = wakeUps
  }

  async load<Subject extends keyof Subjects>(
    question: Question<Subject>,
    command: CommandStamp,
  ): Promise<Loaded<Subject>> {
    const repeated = this.#repeated(command)
    if (repeated !== undefined) return { repeated }
    return { facts: factsFor(this.#tables, question, { now: this.#clock.now(), command: command.id }) }
  }

  async commit(unit: Unit): Promise<CommitOutcome> {
    const repeated = this.#repeated(unit.command)
    if (repeated !== undefined) return { outcome: 'repeated', repeated }
    const committed = commitTo(this.#tables, frozenCopy(unit), this.#clock.now())
    if (committed.outcome === 'kept') this.#wakeUps.kept(unit)
    return committed
  }

  estimateNow(): Instant {
    return this.#clock.now()
  }

  #repeated({ id, payload }: CommandStamp): Repeated | undefined {
    const done = this.#tables.commands.get(id)
    return done && defined({ receipt: done.receipt, samePayload: asksTheSame(done.digest, payload, sha256) })
  }
}
