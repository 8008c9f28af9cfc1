import { expect } from 'vitest'
import type { AuditEntry } from '../../src/domain/audit-event.ts'
import { type HandoffMetadata, isOpen } from '../../src/domain/handoff/handoff.ts'
import { foldHistory } from '../../src/domain/history/history.ts'
import { commandId } from '../../src/domain/kernel/ids.ts'
import { withholdTexts } from '../../src/domain/kernel/texts.ts'
import { type AgentSession, hasBaton, isTerminal } from '../../src/domain/session/agent-session.ts'
import { unwrap } from '../../src/domain/unwrap.ts'
import type { Store } from '../../src/ports/store/store.ts'
import { sha256 } from '../../src/ports/system/sha256.ts'
import { AuditService } from '../../src/services/audit/audit-service.ts'
import { everyItem, ReadBack } from '../cases/read-back.ts'
import { type RuntimeFolder, taskOf } from './file-runtime.ts'
import type { Plan } from './kill-point.ts'

/** What is to be found of a run, whatever was killed in it. */
export interface Expectation {
  /** Restarts that only the kill made necessary: the runtime could not go on in the session that was lost. */
  readonly lostRestarts: number
  /** The session that was being launched when its process was killed: it may have been launched twice. */
  readonly mayLaunchTwice: boolean
}

/** What was found. */
export interface Found {
  readonly lost: number
  readonly doubled: number
  readonly launches: number
  readonly relaunches: number
}

const upTo = (count: number): readonly number[] => Array.from({ length: count }, (_, index) => index + 1)

/** Reads a run back through the ports and holds it against its plan. Everything that is wrong is said, with its name. */
export class FinishedRun {
  readonly #store: Store
  readonly #folder: RuntimeFolder
  readonly #plan: Plan
  readonly #kept: ReadBack

  constructor(store: Store, folder: RuntimeFolder, plan: Plan) {
    this.#store = store
    this.#folder = folder
    this.#plan = plan
    this.#kept = new ReadBack(store)
  }

  async look(expected: Expectation): Promise<Found> {
    const { key, windows } = this.#plan
    const conversation = await this.#store.conversations.findByExternalKey(key)
    if (conversation === undefined) throw new Error(`There is no conversation "${key}"`)
    const sessions = await this.#kept.sessions(conversation.id)
    const handoffs = await this.#kept.handoffs(conversation.id)
    const needed = windows.length - 1 + expected.lostRestarts
    this.#ended(sessions)
    this.#handedOn(handoffs, needed)
    await this.#used(sessions, needed)
    const entries = await this.#kept.audit(conversation.id)
    this.#oneAtATime(sessions, handoffs, entries)
    this.#onceEach(sessions, entries, expected)
    const verdict = unwrap(await new AuditService({ store: this.#store, sha256 }).verify(conversation.id))
    this.#say(verdict.intact, 'the audit log is intact').toBe(true)
    await this.#turns(sessions)
    const completed = handoffs.filter(({ status }) => status === 'completed').length
    return {
      lost: Math.max(0, needed - completed),
      doubled: Math.max(0, completed - needed),
      ...(await this.#launches(sessions, handoffs, expected)),
    }
  }

  #say<T>(value: T, what: string) {
    const { key, occurrence, takesSessionId, canResume, isAnnounced } = this.#plan
    const about = JSON.stringify({ occurrence, takesSessionId, canResume, isAnnounced })
    return expect.soft(value, `${key} ${about}: ${what}`)
  }

  #ended(sessions: readonly AgentSession[]): void {
    const states = sessions.map(({ state }) => state)
    const before = states.slice(0, -1)
    this.#say(states, 'one session completed, all before it handed off').toEqual([
      ...before.map(() => 'handed_off'),
      'completed',
    ])
    this.#say(sessions.filter((session) => !isTerminal(session)).length, 'sessions that have not ended').toBe(0)
    this.#say(
      sessions.map(({ epoch }) => epoch),
      'epochs',
    ).toEqual(upTo(sessions.length))
  }

  #handedOn(handoffs: readonly HandoffMetadata[], needed: number): void {
    this.#say(
      handoffs.map(({ status, kind }) => `${kind} ${status}`),
      'handoffs',
    ).toEqual(upTo(needed).map(() => 'context_restart completed'))
    this.#say(handoffs.filter(isOpen).length, 'open handoffs').toBe(0)
    this.#say(new Set(handoffs.map(({ sourceSessionId }) => sourceSessionId)).size, 'sources').toBe(handoffs.length)
    for (const { priorTurnId, triggeringToolCalls, document, checkpoint, flags } of handoffs) {
      this.#say(priorTurnId, 'prior turn').toBeDefined()
      this.#say(triggeringToolCalls.length, 'tool calls').toBeGreaterThan(0)
      const isLost = flags.includes('runtime_lost')
      this.#say(checkpoint?.outcome, 'checkpoint').toBe(isLost ? 'skipped' : 'kept')
      this.#say(document !== undefined, 'document').toBe(!isLost)
    }
  }

  /** What the budget is decided on. */
  async #used(sessions: readonly AgentSession[], needed: number): Promise<void> {
    const sessionId = sessions.at(-1)?.id
    if (sessionId === undefined) return
    const command = { id: commandId(sessionId), payload: '' }
    const question = { about: 'source' as const, sessionId, maxToolCalls: 1, isBudgeted: true }
    const loaded = await this.#store.unitOfWork.load(question, command)
    const used = loaded.repeated === undefined ? loaded.facts.restarts?.restarts : undefined
    this.#say(used, 'restarts used').toBe(needed)
  }

  /** What is stored is what the log adds up to, and at no moment had two sessions the baton. */
  #oneAtATime(
    sessions: readonly AgentSession[],
    handoffs: readonly HandoffMetadata[],
    entries: readonly AuditEntry[],
  ): void {
    const events = entries.map(({ event }) => event)
    const whole = foldHistory(events)
    this.#say([...whole.sessions.values()], 'sessions as the log has them').toEqual(sessions.map(withholdTexts))
    this.#say([...whole.handoffs.values()], 'handoffs as the log has them').toEqual(handoffs.map(withholdTexts))
    const ends = entries.flatMap(({ commandId: id }, index) =>
      entries[index + 1]?.commandId === id ? [] : [index + 1],
    )
    const most = ends.map((end) => [...foldHistory(events.slice(0, end)).sessions.values()].filter(hasBaton).length)
    this.#say(Math.max(...most), 'sessions with the baton').toBe(1)
  }

  /** Every step is on record once, whoever took it; only a launch that came to nothing may be followed by another. */
  #onceEach(sessions: readonly AgentSession[], entries: readonly AuditEntry[], { mayLaunchTwice }: Expectation): void {
    const count = (type: AuditEntry['event']['type']): number =>
      entries.filter(({ event }) => event.type === type).length
    const restarts = sessions.length - 1
    for (const step of ['initiated', 'checkpointed', 'prepared', 'completed'] as const)
      this.#say(count(`handoff.${step}`), `handoff.${step}`).toBe(restarts)
    this.#say(count('session.started'), 'session.started').toBe(sessions.length)
    this.#say(count('session.attached') - sessions.length, 'attached again').toBeLessThanOrEqual(Number(mayLaunchTwice))
    this.#say(count('session.attached'), 'session.attached').toBeGreaterThanOrEqual(sessions.length)
  }

  /** Nothing is recorded twice, and only what was being said when the process was killed is missing. */
  async #turns(sessions: readonly AgentSession[]): Promise<void> {
    let missing = 0
    const [{ conversationId } = { conversationId: undefined }] = sessions
    if (conversationId === undefined) return
    const spoken = (await this.#kept.messages(conversationId)).filter(({ role }) => role === 'assistant')
    const answers = new Set(spoken.map(({ turnId }) => turnId))
    for (const session of sessions) {
      const turns = await everyItem((page) => this.#store.messages.listTurns(session.id, page))
      this.#say(
        turns.map(({ number }) => number),
        'turn numbers',
      ).toEqual(upTo(turns.length))
      const said = this.#folder.session(session.providerSessionId ?? '')?.said ?? 0
      // Whoever was left in the middle may have a last turn of results that nobody answered.
      const answered = turns.filter(({ id }) => answers.has(id)).length
      missing += said - answered
      this.#say(said, 'turns said').toBeGreaterThanOrEqual(answered)
    }
    this.#say(missing, 'turns that were said and not recorded').toBeLessThanOrEqual(1)
    this.#say(new Set(spoken.map(({ text }) => text)).size, 'answers').toBe(spoken.length)
  }

  /** A launch is at least once, its record exactly once, and each carries the task and the checkpoint. */
  async #launches(
    sessions: readonly AgentSession[],
    handoffs: readonly HandoffMetadata[],
    { mayLaunchTwice }: Expectation,
  ): Promise<Pick<Found, 'launches' | 'relaunches'>> {
    const requests = this.#folder.requestsOf(this.#plan.key)
    const starts = requests.filter(({ what }) => what === 'start')
    const openings = new Map<string, AgentSession>()
    for (const session of sessions) {
      const opening = (await this.#store.messages.findOpening(session.id))?.text ?? ''
      openings.set(opening, session)
      const handoff = handoffs.find(({ id }) => id === session.initiatedByHandoff)
      this.#say(opening, 'what a session opens with').toContain(taskOf(this.#plan.key))
      if (handoff?.document !== undefined) this.#say(opening, 'a continuation').toContain(handoff.document)
      const launched = starts.filter(({ prompt }) => prompt === opening)
      this.#say(launched.length, `launches of epoch ${session.epoch}`).toBeGreaterThanOrEqual(1)
      const recorded = launched.filter((launch) => launch.session === session.providerSessionId)
      this.#say(recorded.length, `launches of epoch ${session.epoch} on record`).toBeGreaterThanOrEqual(1)
    }
    for (const { prompt } of starts) this.#say(openings.has(prompt), 'the prompt is a recorded opening').toBe(true)
    this.#asked(sessions, handoffs)
    const relaunches = starts.length - sessions.length
    this.#say(relaunches, 'launches too many').toBeLessThanOrEqual(mayLaunchTwice ? 1 : 0)
    return { launches: starts.length, relaunches }
  }

  /** Only sessions whose window is full are asked, and those that are on record. */
  #asked(sessions: readonly AgentSession[], handoffs: readonly HandoffMetadata[]): void {
    const asked = this.#folder.requestsOf(this.#plan.key).filter((request) => request.what === 'ask')
    const sources = new Set(handoffs.map(({ sourceSessionId }) => sourceSessionId))
    const full = sessions.filter(({ id }) => sources.has(id)).map(({ providerSessionId }) => providerSessionId)
    for (const { session, promptTokens } of asked) {
      this.#say(full, 'who was asked').toContain(session)
      this.#say(promptTokens, 'how full it was').toBe(900)
    }
  }
}
