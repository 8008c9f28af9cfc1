import type { AuditEvent } from '../../domain/audit-event.ts'
import type { Answer, Decided, Undecided } from '../../domain/decision.ts'
import type { CommandId, HolderToken } from '../../domain/kernel/ids.ts'
import { err, ok, type Result } from '../../domain/kernel/result.ts'
import type { Refusal } from '../../domain/refusal.ts'
import type { HolderProof } from '../../domain/session/stored-session.ts'
import type { Store } from '../../ports/store/store.ts'
import { StoreFailure } from '../../ports/store/store-failure.ts'
import type { CommandStamp, Loaded, Question, Repeated, Subjects, Unit } from '../../ports/store/unit-of-work.ts'
import type { CommandTelemetry } from '../../ports/system/command-telemetry.ts'
import { newHolderToken, tokenDigest } from '../../ports/system/holder-tokens.ts'
import type { Logger } from '../../ports/system/logger.ts'
import type { AfterCommit } from './after-commit.ts'
import { type Answered, answeredBy, mustNotBeSetBack } from './answered.ts'
import { ClaimSpread } from './claim-spread.ts'
import type { CommandDefinition, CommandPlan } from './command.ts'
import type { CommandContext, Surroundings } from './command-context.ts'
import { answerAgain, receiptFor } from './command-receipts.ts'
import { CommandWatch } from './command-watch.ts'
import { issue } from './issued-objects.ts'
import { checkDefaults, readRequest, stampOf } from './read-request.ts'
import type { Repeatable } from './requests.ts'
import { safeLogger } from './safe-logger.ts'
import { setBack } from './set-back.ts'

/** Each conflict means that another command was stored, so this many in a row point at a store that never commits. */
const MAX_CONFLICTS = 1_000

/** A command under way. */
interface UnderWay<Subject extends keyof Subjects, Held, A extends Answer> extends CommandPlan<Subject, Held, A> {
  readonly stamp: CommandStamp
  readonly isByHand: boolean
  /** The token that this command gives its caller, if it gives one. */
  readonly holder?: HolderToken
}

/** The parts of a command runner. */
export interface CommandRunnerParts extends Surroundings {
  readonly store: Store
  readonly logger?: Logger
  readonly telemetry?: CommandTelemetry
  /** The store is inside a transaction of the caller, and this waits for its end. */
  readonly afterCommit?: AfterCommit
}

/**
 * Checks, loads, decides and commits, and repeats this when something has changed meanwhile. It knows no rule: the
 * domain decides.
 */
export class CommandRunner {
  readonly #store: Store
  readonly #context: CommandContext
  readonly #logger: Logger | undefined
  readonly #afterCommit: AfterCommit | undefined
  readonly #watch: CommandWatch
  readonly #answered: Answered
  readonly #unanswered = new UnansweredTokens()

  constructor({ store, logger, afterCommit, telemetry, ...around }: CommandRunnerParts) {
    checkDefaults(around)
    this.#store = store
    this.#afterCommit = afterCommit
    this.#watch = new CommandWatch(telemetry)
    this.#answered = answeredBy(afterCommit?.outside ?? store)
    this.#logger = logger && safeLogger(logger)
    const spread = new ClaimSpread()
    this.#context = { ...around, spread, storeNow: () => store.unitOfWork.estimateNow(), holder: newHolder }
  }

  /** A plain copy of a request, or everything that is wrong with it. */
  read<R extends Repeatable>(
    definition: Pick<CommandDefinition<R, keyof Subjects, unknown, Answer>, 'name' | 'fields' | 'check'>,
    raw: R,
  ): Result<R, Refusal> {
    return readRequest(definition, raw, this.#context)
  }

  /** Carries a command out once, however often it is asked, and shows it. */
  run<R extends Repeatable, Subject extends keyof Subjects, Held, A extends Answer>(
    definition: CommandDefinition<R, Subject, Held, A>,
    raw: R,
  ): Promise<Result<A, Refusal>> {
    return this.watched(definition.name, () => this.attempt(definition, raw))
  }

  /** Shows several attempts as one command. */
  watched<A extends Answer>(name: string, work: () => Promise<Result<A, Refusal>>): Promise<Result<A, Refusal>> {
    return this.#watch.show(name, work)
  }

  /** Carries a command out. Nothing is stored of one whose input is wrong. */
  async attempt<R extends Repeatable, Subject extends keyof Subjects, Held, A extends Answer>(
    definition: CommandDefinition<R, Subject, Held, A>,
    raw: R,
  ): Promise<Result<A, Refusal>> {
    const read = readRequest(definition, raw, this.#context)
    if (!read.ok) return read
    const request = read.value
    const proof = definition.givesToken?.(request) === true ? this.#unanswered.tokenFor(request.commandId) : undefined
    const context = proof === undefined ? this.#context : { ...this.#context, holder: () => proof }
    const command = {
      ...definition.plan(request, context),
      stamp: stampOf(definition, request, this.#context.ids),
      isByHand: definition.isByHand?.(request) ?? false,
      ...(proof && { holder: proof.token }),
    }
    const carriedOut = await this.#unanswered.until(request.commandId, proof, () =>
      this.#carryOut<Subject, Held, A>(command),
    )
    if (carriedOut.ok) return ok(this.#issue(carriedOut.value))
    this.#logger?.debug({ command: definition.name, refusal: carriedOut.error }, 'a command was refused')
    return carriedOut
  }

  /** An answer from a transaction of the caller is not stored for good: that may yet be rolled back. */
  #issue<A extends Answer>(answer: A): A {
    const isStored = this.#afterCommit === undefined
    if (isStored) this.#answered.note(answer)
    return issue(answer, isStored)
  }

  /**
   * A refusal that was decided on the caller's own copy is never final: the copy may be old, or the command already
   * carried out. In a transaction of the caller every decision is on fresh facts, and a conflict is an answer.
   */
  async #carryOut<Subject extends keyof Subjects, Held, A extends Answer>(
    command: UnderWay<Subject, Held, A>,
  ): Promise<Result<A, Refusal>> {
    const { stamp, question, decide } = command
    const mustRead = this.#afterCommit !== undefined || this.#answered.isOutdated(command.held, question, stamp)
    let facts: Held | Subjects[Subject]['facts'] | undefined = mustRead ? undefined : command.held
    let fresh = false
    let sent: A | undefined
    let at = 'nowhere'
    for (let conflicts = 0; conflicts < MAX_CONFLICTS; ) {
      if (facts === undefined) {
        const toRead = typeof question === 'function' ? question(conflicts) : question
        const loaded = await this.#load<Subject>(toRead, stamp)
        if (loaded.repeated !== undefined) return this.#again(command, loaded.repeated, sent)
        facts = loaded.facts
        fresh = true
      }
      const decided: Decided<A> | Undecided = decide(facts)
      facts = undefined
      if ('needs' in decided) {
        if (fresh) throw new TypeError('A decision needs more than the store was asked for')
        continue
      }
      if (!decided.ok) {
        if (fresh) return decided
        continue
      }
      const { changes, events, answer } = decided.value
      if (changes.length === 0 && events.length === 0) {
        // A name may have been used before, which only the store can tell.
        if (fresh || stamp.isNamed !== true) return ok(answer)
        continue
      }
      sent = answer
      const committed = await this.#store.unitOfWork.commit(unitOf(command, decided.value))
      if (committed.outcome === 'kept') {
        this.#kept(stamp, decided.value)
        return ok(answer)
      }
      if (committed.outcome === 'repeated') return this.#again(command, committed.repeated, sent)
      if (this.#afterCommit) return err({ code: 'transaction.conflict', commandId: stamp.id, at: committed.at })
      conflicts += 1
      at = committed.at
      this.#logger?.debug({ command: stamp.id, conflicts, at }, 'a command met a conflict and is decided again')
    }
    throw new StoreFailure(
      'store.contention',
      `Command ${stamp.id} met ${MAX_CONFLICTS} conflicts in a row, the last at: ${at}. Try again.`,
    )
  }

  /** Reads, and looks whether the store has less than it answered before. @throws StoreFailure `store.set_back` */
  async #load<Subject extends keyof Subjects>(
    question: Question<Subject>,
    stamp: CommandStamp,
  ): Promise<Loaded<Subject>> {
    const { step } = this.#answered
    const loaded = await this.#store.unitOfWork.load<Subject>(question, stamp)
    if (loaded.repeated !== undefined) return loaded
    const read = { step, stamp, now: this.#context.storeNow }
    const behind = this.#answered.behindIn(question as Question, loaded.facts, read)
    if (behind === undefined) return loaded
    if (this.#afterCommit === undefined) throw setBack(behind)
    // A transaction of the caller may read from the moment it began, when there was less. The store itself is asked.
    await mustNotBeSetBack(this.#afterCommit.outside, question, stamp)
    return loaded
  }

  /** In a transaction of the caller a decision counts when that is committed. */
  #kept(stamp: CommandStamp, decision: Parameters<CommandWatch['count']>[0]): void {
    if (this.#afterCommit === undefined) this.#answered.noteCommand(stamp, this.#context.storeNow)
    this.#afterCommit?.kept(stamp)
    const count = (): void => this.#watch.count(decision)
    if (this.#afterCommit) this.#afterCommit.wait(count)
    else count()
  }

  /** The answer of a command that was carried out before: by an earlier call, or by this one when a reply was lost. */
  async #again<A extends Answer>(
    { stamp, holder, restore = (answer) => answer }: Again<A>,
    { samePayload, receipt }: Repeated,
    sent: A | undefined,
  ): Promise<Result<A, Refusal>> {
    if (!samePayload) return err({ code: 'command.id_reused', commandId: stamp.id })
    // Without a receipt nobody else knows the id: the store has kept the decision that this call sent last.
    if (receipt === undefined && sent !== undefined) return ok(sent)
    if (receipt === undefined)
      throw new StoreFailure('store.integrity', `The store remembers command ${stamp.id}, but has lost its answer`)
    // The receipt was made from this command's own answer, so it gives back the same parts.
    const answer = restore((await answerAgain(receipt, this.#store)) as A)
    const { session } = receipt
    if (holder === undefined || session === undefined) return ok(answer)
    // No receipt has a token. The one of this call is the session's if it was this call that was carried out.
    const isOurs = await this.#store.sessions.isHeldBy(session.id, holder)
    return ok(isOurs ? { ...answer, holder } : { ...answer, next: 'take_over' as const })
  }
}

type Again<A extends Answer> = Pick<UnderWay<keyof Subjects, unknown, A>, 'stamp' | 'holder' | 'restore'>

const unitOf = (
  { stamp, isByHand }: Pick<UnderWay<keyof Subjects, unknown, Answer>, 'stamp' | 'isByHand'>,
  { changes, events, answer }: { changes: Unit['changes']; events: readonly AuditEvent[]; answer: Answer },
): Unit => {
  // A reading that leads to nothing is not remembered, unless somebody named it in order to ask again.
  const isStep = events.length > 0 || answer.signals !== undefined || stamp.isNamed === true
  return {
    command: stamp,
    changes,
    events: isByHand ? events.map((event) => ({ ...event, byHand: true as const })) : events,
    isRemembered: isStep,
    ...(stamp.isNamed === true && { receipt: receiptFor(answer) }),
  }
}

/** Nobody retries this many commands at once. */
const MOST = 1_000

/** A new token, with its digest. */
const newHolder = (): HolderProof => {
  const token = newHolderToken()
  return { token, digest: tokenDigest(token) }
}

/**
 * The tokens of commands that were sent and not answered: the store may have kept such a command, and has only the
 * digest. A command that is repeated under its name gets the same token again. They are in the memory of this process,
 * and nowhere else.
 */
class UnansweredTokens {
  readonly #tokens = new Map<CommandId, HolderProof>()

  /** The token that a command gives: the one of its try before, if that was not answered. */
  tokenFor(command: CommandId | undefined): HolderProof {
    return (command && this.#tokens.get(command)) ?? newHolder()
  }

  /** Keeps the token of a named command for as long as it is not answered. */
  async until<A>(command: CommandId | undefined, holder: HolderProof | undefined, work: () => Promise<A>): Promise<A> {
    if (command === undefined || holder === undefined) return work()
    if (this.#tokens.size >= MOST) for (const oldest of this.#tokens.keys()) if (this.#tokens.delete(oldest)) break
    this.#tokens.set(command, holder)
    const answer = await work()
    this.#tokens.delete(command)
    return answer
  }
}
