import type { HandoffMetadata } from '../../domain/handoff/handoff.ts'
import { defined } from '../../domain/kernel/defined.ts'
import { type AgentSessionId, agentSessionId, type CommandId, isUuid, type SignalId } from '../../domain/kernel/ids.ts'
import type { Instant } from '../../domain/kernel/instant.ts'
import { err, ok } from '../../domain/kernel/result.ts'
import type { AgentSession } from '../../domain/session/agent-session.ts'
import type { TurnInput } from '../../domain/turn/turn.ts'
import type { ContextMonitor, MonitorSettings } from '../../domain/window/context-monitor.ts'
import { everyPage, type Page, type Paged } from '../../ports/store/page.ts'
import { type KeptSession, PROVIDER_SESSION } from '../../ports/terminal/terminal-files.ts'
import type { PendingDocument } from '../../ports/terminal/wire.ts'
import type { RecordedTurns } from '../commands/answers.ts'
import type { FollowedSession } from './followed-session.ts'
import type { HookOutcome, TerminalSignal } from './hook-event.ts'
import type { HandoffAsked, LeaveOutcome } from './pending-documents.ts'
import type { TerminalDeps } from './terminal-deps.ts'
import type { TerminalReply } from './terminal-refusal.ts'
import type { TerminalService } from './terminal-service.ts'
import type { TerminalSession } from './terminal-sessions.ts'
import { outcomeOf, reported } from './window-reports.ts'

/** A session as it is shown, with the newest handoff that came out of it. */
export interface SessionView {
  readonly session: AgentSession
  readonly monitor: ContextMonitor
  readonly tracking?: KeptSession
  readonly lastHandoff?: HandoffMetadata
  /** The document that it left for the next session of its workspace. */
  readonly pending?: PendingDocument
}

/** A document that waits for the next session, or a handoff that was begun and the file that its document is kept in. */
export type HandoffKept =
  | ({ readonly state: 'pending' } & LeaveOutcome)
  | { readonly state: 'initiated'; readonly handoff: HandoffMetadata; readonly path?: string }

/** So many sessions are looked at for the last one of a folder. */
const MOST_LOOKED_AT = 1_000

/** A change of how a session's window is watched, and who is told. */
export interface MonitorAsked {
  readonly settings: MonitorSettings
  /** `self`, `parent`, or the id of either. */
  readonly notify?: string
}

/** An event about a window that no hook of a known runtime reports. */
export type WindowNews = 'compaction' | 'compaction_complete' | 'context_reset'

/** Answers the requests of programs and people about terminal sessions, beside the events of hooks. */
export class TerminalRequests {
  readonly #deps: TerminalDeps
  readonly #terminals: TerminalService

  constructor(deps: TerminalDeps, terminals: TerminalService) {
    this.#deps = deps
    this.#terminals = terminals
  }

  /** A session by our id or by the runtime's own. Only looks: the caller may turn out to have no right to know. */
  async find(id: string): Promise<AgentSession | undefined> {
    const { sessions } = this.#deps.store
    const own = isId(id) ? await sessions.find(agentSessionId(id)) : undefined
    if (own !== undefined || !PROVIDER_SESSION.test(id)) return own
    const tracking = await this.#terminals.sessions.trackingOf(id)
    const tracked = tracking && (await sessions.find(tracking.sessionId))
    return tracked ?? (await sessions.findByProviderSession(id)).at(-1)
  }

  async view(id: string): TerminalReply<SessionView> {
    await this.#settle(id)
    const session = await this.find(id)
    const monitor = session && (await this.#deps.store.monitors.find(session.id))
    if (session === undefined || monitor === undefined) return err({ code: 'session.unknown', id })
    const { providerSessionId } = session
    const tracking =
      providerSessionId === undefined ? undefined : await this.#terminals.sessions.trackingOf(providerSessionId)
    const newest = { conversationId: session.conversationId, order: 'newest_first' as const }
    const [lastHandoff] = (await this.#deps.store.handoffs.list(newest, { limit: 1 })).items
    const pending = tracking && (await this.#terminals.documents.of({ tracking }))
    return ok(defined({ session, monitor, tracking, lastHandoff, pending }))
  }

  list(page: Page): Promise<Paged<AgentSession>> {
    return this.#deps.store.sessions.list({ order: 'newest_first' }, page)
  }

  register(start: TerminalSession): TerminalReply<{ readonly session: AgentSession; readonly isNew: boolean }> {
    return this.#terminals.inTurn(start.providerSessionId, async () => {
      const registered = await this.#terminals.sessions.register(start)
      if (!registered.ok) return registered
      const at = registered.value
      await this.#terminals.cards.write(at)
      return ok({ session: at.session, isNew: at.isNew })
    })
  }

  recordTurns(
    id: string,
    turns: readonly TurnInput[],
    commandId: CommandId | undefined,
  ): TerminalReply<Pick<RecordedTurns, 'turns' | 'session'>> {
    return this.#at(id, async (at) => {
      const { holder } = at.tracking
      if (holder === undefined) return err({ code: 'session.superseded', sessionId: at.session.id })
      const recorded = await this.#deps.handoffs.recordTurns(
        defined({ session: at.session.id, holder, turns, commandId }),
      )
      if (recorded.ok) at.update(recorded.value)
      return recorded
    })
  }

  watch(id: string, { settings, notify }: MonitorAsked): TerminalReply<ContextMonitor> {
    return this.#at(id, async (at) => {
      const target = notify === undefined ? ok(undefined) : await this.#notifyOf(at.session, notify)
      if (!target.ok) return target
      const watched = await this.#deps.context.watch({ session: at.session.id, settings })
      if (!watched.ok) return watched
      at.update({ monitor: watched.value.monitor })
      if (target.value !== undefined) at.keep({ notify: target.value })
      return ok(watched.value.monitor)
    })
  }

  signals(id: string): TerminalReply<readonly TerminalSignal[]> {
    return this.#at(id, async (at) => ok(await this.#terminals.signals.waiting(at)))
  }

  acknowledge(id: string, signals: readonly SignalId[]): TerminalReply<number> {
    return this.#at(id, async (at) => ok(await this.#deps.context.acknowledge(at.session.id, signals)))
  }

  /**
   * Takes the handoff that the agent asks for, once everything it has done is on record. To itself, it leaves a document for
   * the next session of the workspace; a handoff to another agent begins at once, and waits for that agent.
   */
  async handoff(id: string, request: HandoffAsked): TerminalReply<HandoffKept> {
    const { turns, documents } = this.#terminals
    const wanted = this.#redacted(request)
    const left = await this.#at<HandoffKept>(id, async (at) => {
      await turns.take(at, { isAtRest: true })
      const { targetAgent = at.session.agentName } = wanted
      if (targetAgent.trim() !== at.session.agentName) return this.#transfer(at, { ...wanted, targetAgent })
      const leaving = await documents.leave(at, wanted)
      return leaving.ok ? ok({ state: 'pending', ...leaving.value }) : leaving
    })
    // The session whose document was replaced waits no longer.
    if (left.ok && left.value.state === 'pending' && left.value.isReplacing) await this.#terminals.sweep()
    return left
  }

  async #transfer(
    at: FollowedSession,
    { document, reason, targetAgent, commandId }: HandoffAsked & { readonly targetAgent: string },
  ): TerminalReply<HandoffKept> {
    const { handoffs, files } = this.#deps
    const { holder } = at.tracking
    if (holder === undefined) return err({ code: 'session.superseded', sessionId: at.session.id })
    const kind = 'agent_transfer' as const
    const request = defined({ session: at.session.id, holder, kind, targetAgent, reason, document, commandId })
    const begun = await handoffs.initiateHandoff(request)
    if (!begun.ok) return begun
    at.update(begun.value)
    const { handoff } = begun.value
    if (document === undefined) return ok({ state: 'initiated', handoff })
    const path = await files.writeDocument(handoff.id, document)
    at.keep({ lastHandoffPath: path })
    return ok({ state: 'initiated', handoff, path })
  }

  /** The document stands in files as well as in the record. */
  #redacted(request: HandoffAsked): HandoffAsked {
    const { redact = (text: string) => text } = this.#deps
    const { document, reason } = request
    return {
      ...request,
      ...(document !== undefined && { document: redact(document) }),
      ...(reason !== undefined && { reason: redact(reason) }),
    }
  }

  /** Takes the document back that a session has left. */
  withdraw(id: string): TerminalReply<PendingDocument> {
    return this.#at(id, (at) => this.#terminals.documents.withdraw(at))
  }

  /** The sessions that work in the workspace of a folder now, newest first. */
  async workingIn(folder: string): Promise<readonly AgentSession[]> {
    const workspace = this.#deps.pending.workspaceOf(folder)
    const found: AgentSession[] = []
    for await (const { session } of everyPage((page) => this.#deps.store.sessions.listUnfinished(page))) {
      const { providerSessionId, state } = session
      if (state !== 'active' || providerSessionId === undefined || workspace === undefined) continue
      const { cwd, holder, hasEnded } = (await this.#terminals.sessions.trackingOf(providerSessionId)) ?? {}
      if (cwd === undefined || holder === undefined || hasEnded === true) continue
      if (this.#deps.pending.workspaceOf(cwd) === workspace) found.push(session)
    }
    return found
  }

  /** The sessions that work in the workspace of a folder now; where none does, the one that ended there last. */
  async handingIn(folder: string): Promise<readonly AgentSession[]> {
    const working = await this.workingIn(folder)
    if (working.length > 0) return working
    const workspace = this.#deps.pending.workspaceOf(folder)
    let looked = 0
    for await (const session of everyPage((page) => this.list(page))) {
      looked += 1
      if (workspace === undefined || looked > MOST_LOOKED_AT) return []
      const { providerSessionId: id, state, progress } = session
      const { cwd, holder } = (id === undefined ? undefined : await this.#terminals.sessions.trackingOf(id)) ?? {}
      if (cwd === undefined || holder === undefined || state === 'handed_off' || progress.turns === 0) continue
      if (this.#deps.pending.workspaceOf(cwd) === workspace) return [session]
    }
    return []
  }

  /** Takes a sample in the shape of a status line. */
  sample(id: string, raw: unknown, producedAt: Instant | undefined): TerminalReply<HookOutcome> {
    return this.#at(id, async (at) => ok(await this.#terminals.samples.take(at, raw, producedAt)))
  }

  /** Takes that a window was compacted or emptied. */
  news(id: string, news: WindowNews, producedAt: Instant | undefined): TerminalReply<HookOutcome> {
    return this.#at(id, async (at) => {
      this.#terminals.samples.forget(at.providerSessionId)
      if (news === 'context_reset') {
        const report = defined({ type: 'cleared' as const, producedAt })
        return ok(outcomeOf(await reported(this.#deps, at, report)))
      }
      const by = news === 'compaction' ? ('told' as const) : ('complete' as const)
      return ok(await this.#terminals.compactions.tell(at, by, defined({ trigger: 'unknown' as const, producedAt })))
    })
  }

  /** A session that has only begun becomes one when its agent asks for something. */
  async #settle(id: string): Promise<void> {
    if (PROVIDER_SESSION.test(id)) await this.#terminals.inTurn(id, () => this.#terminals.settle(id))
  }

  /** Does something about a session in its turn, and keeps what came of it. */
  async #at<T>(id: string, work: (at: FollowedSession) => TerminalReply<T>): TerminalReply<T> {
    await this.#settle(id)
    const { providerSessionId } = (await this.find(id)) ?? {}
    if (providerSessionId === undefined) return err({ code: 'session.unknown', id })
    return this.#terminals.inTurn(providerSessionId, async () => {
      const at = await this.#terminals.sessions.find(providerSessionId)
      if (at === undefined) return err({ code: 'session.unknown', id })
      const done = await work(at)
      await this.#terminals.sessions.keep(at)
      await this.#terminals.cards.write(at)
      return done
    })
  }

  /** Only a session itself and the one that started it may be told of its window. */
  async #notifyOf(session: AgentSession, target: string): TerminalReply<'self' | 'parent'> {
    const { id, parentSessionId } = session
    if (target === 'self' || target === id || target === session.providerSessionId) return ok('self')
    if (target === 'parent' && parentSessionId === undefined) return err({ code: 'notify.unknown', target })
    if (target === 'parent' || target === parentSessionId) return ok('parent')
    const other = await this.find(target)
    if (other === undefined) return err({ code: 'notify.unknown', target })
    return other.id === parentSessionId ? ok('parent') : err({ code: 'notify.forbidden', target })
  }
}

const isId = (text: string): text is AgentSessionId => isUuid(text)
