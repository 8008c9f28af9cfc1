import { deepStrictEqual } from 'node:assert/strict'
import fc from 'fast-check'
import type { Conversation } from '../../src/domain/conversation/conversation.ts'
import type { Answer } from '../../src/domain/decision.ts'
import { foldHistory } from '../../src/domain/history/history.ts'
import { type CommandId, commandId } from '../../src/domain/kernel/ids.ts'
import type { Result } from '../../src/domain/kernel/result.ts'
import { TEXT_WITHHELD, withholdTexts } from '../../src/domain/kernel/texts.ts'
import type { Refusal } from '../../src/domain/refusal.ts'
import { unwrap } from '../../src/domain/unwrap.ts'
import { sha256 } from '../../src/ports/system/sha256.ts'
import { AuditService } from '../../src/services/audit/audit-service.ts'
import type { StoreUnderTest } from '../../src/testing/scene.ts'
import { everyItem, ReadBack } from '../cases/read-back.ts'
import { givenAgain } from '../support/given-again.ts'
import { type Choices, type CommandKind, PLANS, type Planned, sensibleInstead } from './commands.ts'
import type { Outcome } from './plain-model.ts'
import { World } from './world.ts'

/** How hard to try. */
export interface Effort {
  /** How many sequences. */
  readonly runs: number
  /** How many commands a sequence has at most. */
  readonly commands: number
  /**
   * The store's clock goes on by itself. A brief claim is then left to lapse at once, so that nothing depends on how
   * long a command takes.
   */
  readonly realClock?: boolean
}

/** How often a kind of step was allowed and refused. */
export interface Tally {
  allowed: number
  refused: number
}

/** What a run does next: a command, a repetition of an old one, an old command id for something else, or a wait. */
type StepKind = CommandKind | 'repeat' | 'reuse' | 'passTime'

interface Step extends Choices {
  readonly kind: StepKind
  /** Which earlier command to repeat or reuse. */
  readonly earlier: number
}

const WEIGHTS: Readonly<Record<StepKind, number>> = {
  open: 3,
  start: 6,
  record: 12,
  extend: 4,
  setBudget: 3,
  ask: 2,
  pause: 3,
  resume: 4,
  completeSession: 1,
  failSession: 1,
  takeOver: 3,
  attach: 2,
  account: 2,
  restart: 5,
  keepCheckpoint: 3,
  prepare: 3,
  snapshot: 2,
  initiate: 10,
  thread: 2,
  accept: 5,
  claimNext: 3,
  completeHandoff: 5,
  cancelHandoff: 2,
  failHandoff: 2,
  repeat: 6,
  reuse: 4,
  passTime: 2,
}

const step: fc.Arbitrary<Step> = fc.record({
  kind: fc.oneof(
    ...Object.entries(WEIGHTS).map(([kind, weight]) => ({ weight, arbitrary: fc.constant(kind as StepKind) })),
  ),
  which: fc.nat(255),
  how: fc.nat(119),
  who: fc.nat(255),
  flaw: fc.nat(19),
  earlier: fc.nat(99),
})

/** A command that was carried out or refused, under its id. */
interface Done {
  readonly kind: CommandKind
  readonly planned: Planned
  /** The first answer, once there is one to repeat. */
  readonly answer?: Answer
}

/**
 * Random sequences of commands do the same to a store, through the service, as to the plain model; and what is stored
 * is what the audit log adds up to.
 *
 * @returns how often each kind of step was allowed and refused
 * @throws the shortest sequence that does not, with its seed
 */
export const modelAgrees = async (
  openStore: () => Promise<StoreUnderTest>,
  { runs, commands, realClock = false }: Effort,
): Promise<ReadonlyMap<StepKind, Tally>> => {
  const tallies = new Map<StepKind, Tally>()
  const opening: Step[] = (['open', 'start', 'record'] as const).map((kind) => ({
    kind,
    which: 1,
    how: 4,
    who: 4,
    flaw: 9,
    earlier: 0,
  }))
  const sequence = fc.array(step, { maxLength: commands - opening.length, size: 'max' })
  const property = fc.asyncProperty(sequence, async (steps) => {
    const run = new Run(new World(await openStore()), realClock, tallies)
    for (const next of [...opening, ...steps]) await run.take(next)
    await run.compare()
  })
  await fc.assert(property, { numRuns: runs })
  return tallies
}

class Run {
  readonly #world: World
  readonly #realClock: boolean
  readonly #tallies: Map<StepKind, Tally>
  readonly #done = new Map<CommandId, Done>()

  constructor(world: World, realClock: boolean, tallies: Map<StepKind, Tally>) {
    this.#world = world
    this.#realClock = realClock
    this.#tallies = tallies
  }

  async take(next: Step): Promise<void> {
    this.#world.scene.clock.advance(1)
    if (next.kind === 'passTime') return this.#pass(40)
    const [id, earlier] = [...this.#done][next.earlier % Math.max(this.#done.size, 1)] ?? []
    if (next.kind === 'repeat') {
      return id && earlier && this.#carryOut('repeat', { ...earlier, id })
    }
    if (next.kind !== 'reuse') {
      const kind = next.which % 16 < 12 ? sensibleInstead(this.#world, next.kind) : next.kind
      return this.#carryOut(kind, this.#plan(kind, next))
    }
    const kinds = Object.keys(PLANS) as CommandKind[]
    const other = kinds[next.how % kinds.length] ?? 'open'
    if (id === undefined || other === earlier?.kind) return
    await this.#carryOut('reuse', { ...this.#plan(other, next), id })
  }

  #plan(kind: CommandKind, choices: Choices): Done & { readonly id: CommandId } {
    return { kind, planned: PLANS[kind](this.#world, choices), id: commandId(this.#world.scene.ids.next()) }
  }

  async #carryOut(as: StepKind, { kind, planned, id }: Done & { readonly id: CommandId }): Promise<void> {
    const first = this.#done.get(id)
    const known = first?.answer
    const repeats = first?.planned === planned
    const outcome: Outcome =
      known === undefined ? planned.expect() : { refused: this.#refusedAgain(planned, repeats), writes: false }
    const result = await planned.perform(id)
    deepStrictEqual({ as, kind, refused: codesOf(result) }, { as, kind, refused: outcome.refused.toSorted() })
    this.#count(as, result.ok)
    if (known !== undefined) {
      if (result.ok)
        deepStrictEqual(withoutAsked(result.value), withoutAsked(givenAgain(await this.#asKept(kind, known))))
      return
    }
    if (result.ok) this.#world.learn(result.value)
    this.#done.set(id, { kind, planned, ...(result.ok && outcome.writes && { answer: result.value }) })
    if (this.#realClock && planned.passes !== undefined && outcome.writes) await this.#pass(2 * planned.passes)
  }

  /**
   * The opening of a successor is a text of the handoff, and no longer there once it is replaced or the successor began.
   * The command that prepared it has it in its own request.
   */
  async #asKept(kind: CommandKind, known: Answer): Promise<Answer> {
    const { handoff } = known
    if (kind === 'prepare' || handoff?.status !== 'accepted' || handoff.prepared === undefined) return known
    const stored = await this.#kept.handoff(handoff.id)
    const { prepared } = handoff
    if (stored.status === 'accepted' && stored.prepared?.sessionId === prepared.sessionId) return known
    return { ...known, handoff: { ...handoff, prepared: { ...prepared, continuation: TEXT_WITHHELD } } }
  }

  /** Wrong input is seen before the id is looked up. */
  #refusedAgain({ isInvalid }: Planned, repeats: boolean): readonly string[] {
    return repeats ? [] : [isInvalid === true ? 'input.invalid' : 'command.id_reused']
  }

  #count(kind: StepKind, allowed: boolean): void {
    const tally = this.#tallies.get(kind) ?? { allowed: 0, refused: 0 }
    tally[allowed ? 'allowed' : 'refused'] += 1
    this.#tallies.set(kind, tally)
  }

  async #pass(milliseconds: number): Promise<void> {
    this.#world.model.now += milliseconds
    await this.#world.scene.passTime(milliseconds)
  }

  /** What is stored is what the model has, and what the log adds up to. */
  async compare(): Promise<void> {
    const { conversations, model } = this.#world
    deepStrictEqual(conversations.length, model.conversations.length)
    for (const index of conversations.keys()) {
      await this.#compareBudget(index)
      await this.#compareMessages(index)
      await this.#compareLog(index)
    }
    for (const index of model.sessions.keys()) await this.#compareSession(index)
    for (const index of model.handoffs.keys()) await this.#compareHandoff(index)
    await this.#compareLeases()
  }

  async #compareBudget(index: number): Promise<void> {
    const { scene, model } = this.#world
    const stored = await scene.store.conversations.find(this.#world.conversation(index))
    const plain = model.conversations[index]
    deepStrictEqual([stored?.restartBudget, stored?.asked?.restarts], [{ ...plain?.budget }, plain?.asked?.restarts])
  }

  /** Whose holders were not heard of in time; other runs may have left theirs in the same store. */
  async #compareLeases(): Promise<void> {
    const { model, sessions, scene } = this.#world
    const listed = await everyItem((page) => scene.store.leases.listExpired(page))
    const mine = listed.map(({ sessionId }) => sessionId).filter((id) => sessions.includes(id))
    const abandoned = sessions.filter((_, index) => {
      const { lease, state, heldBy } = model.sessions[index] ?? {}
      return lease !== undefined && model.now >= lease.until && (state === 'active' || heldBy !== undefined)
    })
    deepStrictEqual(mine.toSorted(), abandoned.toSorted())
  }

  get #kept(): ReadBack {
    return new ReadBack(this.#world.scene.store)
  }

  async #compareMessages(index: number): Promise<void> {
    const world = this.#world
    const stored = await this.#kept.messages(world.conversation(index))
    const expected = world.model.conversations[index]?.messages ?? []
    deepStrictEqual(
      stored.map(({ sequenceNumber, sessionId, role }) => ({ sequence: sequenceNumber, sessionId, role })),
      expected.map(({ sequence, session, role }) => ({ sequence, sessionId: world.session(session), role })),
    )
  }

  async #compareSession(index: number): Promise<void> {
    const world = this.#world
    const plain = world.model.sessions[index]
    if (plain === undefined) return
    const id = world.session(index)
    const session = await this.#kept.session(id)
    const own = world.model.conversations[plain.conversation]?.messages.filter((said) => said.session === index) ?? []
    deepStrictEqual(
      {
        conversation: session.conversationId,
        epoch: session.epoch,
        agent: session.agentName,
        state: session.state,
        turns: session.progress.turns,
        window: session.progress.window.messages,
        heldBy: 'heldBy' in session ? session.heldBy : undefined,
        start: session.startSequence,
        initiatedBy: session.initiatedByHandoff,
        end: 'endSequence' in session ? session.endSequence : undefined,
        terminatedBy: 'terminatedByHandoff' in session ? session.terminatedByHandoff : undefined,
        snapshots: (await this.#kept.snapshots(id)).length,
        provider: session.providerSessionId,
        used: session.totals?.inputTokens,
      },
      {
        conversation: world.conversation(plain.conversation),
        epoch: plain.epoch,
        agent: plain.agent,
        state: plain.state,
        turns: plain.turns,
        window: {
          user: own.filter(({ role }) => role === 'user').length,
          assistant: own.filter(({ role }) => role === 'assistant').length,
          tool: 0,
          system: 0,
        },
        heldBy: plain.heldBy === undefined ? undefined : world.handoff(plain.heldBy),
        start: plain.start,
        initiatedBy: plain.initiatedBy === undefined ? undefined : world.handoff(plain.initiatedBy),
        end: plain.end,
        terminatedBy: plain.terminatedBy === undefined ? undefined : world.handoff(plain.terminatedBy),
        snapshots: plain.snapshots,
        provider: plain.provider,
        used: plain.used,
      },
    )
  }

  async #compareHandoff(index: number): Promise<void> {
    const world = this.#world
    const plain = world.model.handoffs[index]
    if (plain === undefined) return
    const handoff = await this.#kept.handoff(world.handoff(index))
    deepStrictEqual(
      {
        kind: handoff.kind,
        source: handoff.sourceSessionId,
        agent: handoff.targetAgent,
        calls: handoff.triggeringToolCalls.map(({ callId }) => callId),
        status: handoff.status,
        claimant: 'claim' in handoff ? handoff.claim?.claimant : undefined,
        target: 'targetSessionId' in handoff ? handoff.targetSessionId : undefined,
        targetConversation: 'targetConversationId' in handoff ? handoff.targetConversationId : undefined,
        endReason: 'endReason' in handoff ? handoff.endReason : undefined,
        document: handoff.document,
        flags: handoff.flags,
        checkpoint: handoff.checkpoint?.outcome,
        continuation: handoff.status === 'accepted' ? handoff.prepared?.continuation : undefined,
      },
      {
        kind: plain.kind,
        source: world.session(plain.source),
        agent: plain.agent,
        calls: plain.calls,
        status: plain.status,
        claimant: plain.claimant,
        target: plain.target === undefined ? undefined : world.session(plain.target),
        targetConversation:
          plain.targetConversation === undefined ? undefined : world.conversation(plain.targetConversation),
        endReason: plain.endReason,
        document: plain.document,
        flags: plain.flags,
        checkpoint: plain.checkpoint,
        continuation: plain.continuation,
      },
    )
  }

  async #compareLog(index: number): Promise<void> {
    const kept = this.#kept
    const id = this.#world.conversation(index)
    const entries = await kept.audit(id)
    deepStrictEqual(
      entries.map(({ position }) => position),
      entries.map((_, at) => at + 1),
    )
    const verdict = unwrap(await new AuditService({ store: this.#world.scene.store, sha256 }).verify(id))
    deepStrictEqual(verdict.intact ? 'intact' : verdict.problem, 'intact')
    const folded = foldHistory(entries.map(({ event }) => event))
    const sessions = await kept.sessions(id)
    const snapshots = (await Promise.all(sessions.map((session) => kept.snapshots(session.id)))).flat()
    const records = snapshots.map(({ visibleToolCalls: _, ...record }) => record)
    const conversation = await this.#world.scene.store.conversations.find(id)
    deepStrictEqual(folded.conversations, byId(conversation === undefined ? [] : [conversation]))
    deepStrictEqual(folded.sessions, byId(sessions))
    deepStrictEqual(folded.handoffs, byId(await kept.handoffs(id)))
    deepStrictEqual(folded.snapshots, byId(records))
  }
}

const byId = <T extends { readonly id: string }>(items: readonly T[]): ReadonlyMap<string, T> =>
  new Map(items.map((item) => [item.id, withholdTexts(item)]))

/** The codes of a refusal, those of several reasons one by one. */
const codesOf = (result: Result<Answer, Refusal>): readonly string[] => {
  if (result.ok) return []
  const { error } = result
  return (error.code === 'several' ? error.reasons.map(({ code }) => code) : [error.code]).toSorted()
}

/** A repeated answer has the latest prompt as it is now: a text is kept in one place only. */
const withoutAsked = (answer: object): object => {
  if (!('conversation' in answer)) return answer
  const { asked: _, ...conversation } = answer.conversation as Conversation
  return { ...answer, conversation }
}
