import type { Conversation } from '../../domain/conversation/conversation.ts'
import { terminalTask } from '../../domain/conversation/title.ts'
import { defined } from '../../domain/kernel/defined.ts'
import type { AgentSessionId, ConversationId, HolderToken } from '../../domain/kernel/ids.ts'
import { ok, type Result } from '../../domain/kernel/result.ts'
import type { Refusal } from '../../domain/refusal.ts'
import { type AgentSession, heldBy, isTerminal } from '../../domain/session/agent-session.ts'
import type { ContextMonitor, MonitorSettings } from '../../domain/window/context-monitor.ts'
import type { KeptSession, TerminalRuntime } from '../../ports/terminal/terminal-files.ts'
import { heldOrTaken } from '../commands/answers.ts'
import { derivedCommand } from '../commands/derived-command.ts'
import { externalKey, FollowedSession } from './followed-session.ts'
import type { TerminalDeps } from './terminal-deps.ts'

/** A terminal session as its start describes it. */
export interface TerminalSession {
  readonly runtime: TerminalRuntime
  readonly providerSessionId: string
  readonly model?: string
  readonly cwd?: string
  readonly parentSessionId?: AgentSessionId
  /** The conversation that it branches off from, where it is not the next session of one. */
  readonly branchOf?: ConversationId
  readonly monitor?: Omit<MonitorSettings, 'policy'>
}

/** A session that a handoff has made, and the terminal that it works in. */
interface TakenUp extends Pick<TerminalSession, 'runtime' | 'providerSessionId'> {
  readonly session: AgentSession
  readonly holder: HolderToken
  readonly monitor: ContextMonitor
}

const CACHED = 2_000

/** Registers terminal sessions and finds them again, by the runtime's own name for them. */
export class TerminalSessions {
  readonly #deps: TerminalDeps
  /** Everything kept is in the files too; reading them for every status line would be a waste. */
  readonly #tracked = new Map<string, KeptSession>()
  /** Sessions as they were last read: enough for a sample, which is about the window and not about the session. */
  readonly #read = new Map<string, AgentSession>()

  constructor(deps: TerminalDeps) {
    this.#deps = deps
  }

  /** The kept facts of a session, without a look at the store. */
  async trackingOf(providerSessionId: string): Promise<KeptSession | undefined> {
    const tracking = this.#tracked.get(providerSessionId) ?? (await this.#deps.files.readKept(providerSessionId))
    if (tracking !== undefined) this.#cache(providerSessionId, tracking)
    return tracking
  }

  /** As {@link find}, with the session as it was last read. */
  async findForSample(providerSessionId: string): Promise<FollowedSession | undefined> {
    const [tracking, session] = [this.#tracked.get(providerSessionId), this.#read.get(providerSessionId)]
    if (tracking !== undefined && tracking.sessionId === session?.id)
      return new FollowedSession(providerSessionId, session, tracking)
    return this.find(providerSessionId)
  }

  async find(providerSessionId: string): Promise<FollowedSession | undefined> {
    const tracking = await this.trackingOf(providerSessionId)
    const session = tracking && (await this.#deps.store.sessions.find(tracking.sessionId))
    if (tracking !== undefined && session !== undefined) {
      this.#read.set(providerSessionId, session)
      return new FollowedSession(providerSessionId, session, tracking)
    }
    const latest = (await this.#deps.store.sessions.findByProviderSession(providerSessionId)).at(-1)
    return latest && this.#adopt(providerSessionId, latest)
  }

  /** Writes what is kept, so that nothing that was answered is forgotten. */
  async keep(at: FollowedSession): Promise<void> {
    if (this.#tracked.get(at.providerSessionId) === at.tracking) return
    await this.#deps.files.writeKept(at.providerSessionId, at.tracking)
    this.#cache(at.providerSessionId, at.tracking)
  }

  /** Finds a session, or starts it: the first of its conversation, or the next one when the last has ended. */
  async register(start: TerminalSession): Promise<Result<FollowedSession, Refusal>> {
    const found = await this.find(start.providerSessionId)
    if (found !== undefined && !isTerminal(found.session)) return ok(found)
    return this.#start(start, found)
  }

  /** Follows a session that a handoff has made, in the terminal that it works in. */
  async takeUp({ runtime, providerSessionId, session, holder, monitor }: TakenUp): Promise<FollowedSession> {
    const tracking = (await this.trackingOf(providerSessionId)) ?? newTracking(runtime, session.id)
    const at = new FollowedSession(providerSessionId, session, tracking)
    at.moveTo(session, holder, monitor)
    return at
  }

  /** Starts the next session of a terminal that works on although its last one is over, and moves to it. */
  async workOn(at: FollowedSession): Promise<void> {
    if (!isTerminal(at.session) || at.tracking.holder === undefined) return
    const { providerSessionId, runtime } = at
    const { cwd } = at.tracking
    const started = await this.#start(defined({ runtime, providerSessionId, cwd }), at)
    if (!started.ok) return
    const { session, monitor, tracking } = started.value
    at.update(defined({ session, monitor }))
    at.keep(tracking)
  }

  async #start(start: TerminalSession, before: FollowedSession | undefined): Promise<Result<FollowedSession, Refusal>> {
    const { runtime, providerSessionId, model, parentSessionId } = start
    const monitor = { ...(await this.#deps.watchingIn?.(start.cwd)), ...start.monitor }
    const { handoffs, sha256 } = this.#deps
    const key = externalKey(runtime, providerSessionId)
    const { agentName, backend } = this.#deps.agents.named(runtime)
    const number = (await this.#deps.store.sessions.findByProviderSession(providerSessionId)).length + 1
    const opened = await this.#open(start, { key, number, before })
    if (!opened.ok) return opened
    const { conversation } = opened.value
    if (conversation.closedAt !== undefined) await handoffs.reopenConversation({ conversation })
    const request = defined({
      ...{ conversationId: conversation.id, agentName, backend, model, providerSessionId, parentSessionId },
      monitor,
      commandId: derivedCommand(sha256, key, 'session', number),
    })
    const started = await handoffs.startSession(request)
    if (!started.ok) return started
    // A process before this one may have started it, and ended before it kept the token.
    const held = await heldOrTaken(handoffs, started.value)
    if (!held.ok) return held
    const { session, holder } = held.value
    const tracking = before?.tracking ?? newTracking(runtime, session.id)
    const at = new FollowedSession(providerSessionId, session, defined({ ...tracking, cwd: start.cwd ?? tracking.cwd }))
    at.moveTo(session, holder, started.value.monitor)
    at.isNew = true
    await this.keep(at)
    return ok(at)
  }

  /**
   * The conversation that a terminal works in: the one that its last session was in, or one under its own name. Where
   * another session works that by now, a branch of it.
   */
  async #open(
    { runtime, providerSessionId, cwd, branchOf }: TerminalSession,
    {
      key,
      number,
      before,
    }: { readonly key: string; readonly number: number; readonly before: FollowedSession | undefined },
  ): Promise<Result<{ readonly conversation: Conversation }, Refusal>> {
    const { handoffs, store } = this.#deps
    const { agentName } = this.#deps.agents.named(runtime)
    const originalTask = terminalTask(agentName, cwd)
    const workspace = cwd === undefined ? undefined : { workingDirectory: cwd }
    const open = (externalKey: string, parentId?: ConversationId) =>
      handoffs.openConversation(defined({ originalTask, externalKey, workspace, parentId }))
    const last = before && (await this.#conversationOf(before))
    const opened = last === undefined ? await open(key, branchOf) : ok({ conversation: last })
    if (!opened.ok) return opened
    const { id } = opened.value.conversation
    const baton = await store.sessions.findBaton(id)
    const isOthers = baton !== undefined && baton.providerSessionId !== providerSessionId
    return isOthers ? open(`${key}:${number}`, id) : opened
  }

  /** The conversation of a session that a terminal worked. One that somebody else worked, such as a runner, is theirs. */
  async #conversationOf({ session, tracking }: FollowedSession): Promise<Conversation | undefined> {
    const conversation = await this.#deps.store.conversations.find(session.conversationId)
    return conversation && (tracking.holder !== undefined || this.#deps.agents.opened(conversation))
      ? conversation
      : undefined
  }

  /** A session of which nothing is kept here: one of ours whose file is gone, or one that somebody else works. */
  async #adopt(providerSessionId: string, session: AgentSession): Promise<FollowedSession> {
    const { store, handoffs } = this.#deps
    const conversation = await store.conversations.find(session.conversationId)
    const isOurs = conversation !== undefined && this.#deps.agents.opened(conversation)
    const agent = isOurs ? this.#deps.agents.keptAs(session.agentName) : undefined
    const { name } = agent ?? this.#deps.agents.usual
    const at = new FollowedSession(providerSessionId, session, newTracking(name, session.id))
    if (agent === undefined) return at
    const sharing = (await store.sessions.findByProviderSession(providerSessionId)).filter(
      ({ conversationId }) => conversationId === session.conversationId,
    )
    at.keep({ turns: sharing.reduce((sum, { progress }) => sum + progress.turns, 0) })
    const mayTake = !isTerminal(session) && heldBy(session) === undefined
    const taken = mayTake ? await handoffs.takeOverSession({ session: session.id }) : undefined
    if (taken?.ok === true) {
      at.update(taken.value)
      at.keep({ holder: taken.value.holder })
    }
    await this.keep(at)
    return at
  }

  #cache(providerSessionId: string, tracking: KeptSession): void {
    this.#tracked.delete(providerSessionId)
    this.#tracked.set(providerSessionId, tracking)
    const [oldest] = this.#tracked.keys()
    if (this.#tracked.size <= CACHED || oldest === undefined) return
    this.#tracked.delete(oldest)
    this.#read.delete(oldest)
  }
}

const newTracking = (runtime: TerminalRuntime, sessionId: AgentSessionId): KeptSession => ({
  ...{ v: 1, runtime, sessionId, turns: 0, boundaries: 0 },
  compaction: { number: 0, toldBy: [] },
  events: [],
})
