/**
 * The rules once more, in plain objects and ifs, to be compared with what Batonpass does.
 *
 * Everything is named by its place in a list, and nothing here comes from the library.
 */

export interface PlainMessage {
  readonly sequence: number
  readonly session: number
  readonly turn: number
  readonly role: 'user' | 'assistant'
  readonly calls: readonly string[]
}

export interface PlainConversation {
  readonly key: string | undefined
  readonly parent: number | undefined
  readonly messages: PlainMessage[]
  /** The first prompt; a thread begins with the prompt that its source works on. */
  readonly task: string
  budget: PlainBudget
  /** The latest new prompt after the task, and the restarts before it. */
  asked: { readonly prompt: string; readonly restarts: number } | undefined
}

/** How often a conversation may be restarted, and what happens then. */
export interface PlainBudget {
  readonly maxRestarts: number
  readonly whenExhausted: 'stop' | 'carry_on'
}

export interface PlainSession {
  readonly conversation: number
  readonly epoch: number
  readonly agent: string
  readonly start: number
  readonly initiatedBy: number | undefined
  state: 'active' | 'paused' | 'handed_off' | 'completed' | 'failed'
  holder: number
  turns: number
  snapshots: number
  heldBy: number | undefined
  end: number | undefined
  terminatedBy: number | undefined
  provider: string | undefined
  used: number | undefined
  /** Until when its holder is to be heard of. */
  lease: { readonly until: number; readonly holder: number } | undefined
}

export interface PlainHandoff {
  readonly source: number
  readonly kind: string
  readonly agent: string
  readonly calls: readonly string[]
  status: 'initiated' | 'accepted' | 'completed' | 'cancelled' | 'failed'
  claimant: string | undefined
  deadline: number
  target: number | undefined
  targetConversation: number | undefined
  endReason: string | undefined
  document: string | undefined
  flags: readonly string[]
  checkpoint: string | undefined
  /** What the successor is to open with. */
  continuation: string | undefined
}

/** Nobody: an entity that was never made. */
export const UNKNOWN = -1

/** What became of a command: the codes of a refusal, or none and whether anything was written. */
export interface Outcome {
  readonly refused: readonly string[]
  readonly writes: boolean
}

const WRITTEN: Outcome = { refused: [], writes: true }
const NOTHING_TO_WRITE: Outcome = { refused: [], writes: false }
const no = (...codes: readonly string[]): Outcome => ({ refused: codes, writes: false })

/** One turn: who speaks, and which tools the last assistant message calls. */
export interface PlainTurn {
  readonly roles: readonly ('user' | 'assistant')[]
  readonly calls: readonly string[]
}

export class PlainModel {
  readonly conversations: PlainConversation[] = []
  readonly sessions: PlainSession[] = []
  readonly handoffs: PlainHandoff[] = []
  /** How many holder tokens were given out. */
  tokens = 0
  now = 0

  open({ task, key, parent }: { task: string; key?: string; parent?: number }): Outcome {
    if (task.trim() === '') return no('input.invalid')
    if (key !== undefined && this.conversations.some((conversation) => conversation.key === key))
      return NOTHING_TO_WRITE
    if (parent === UNKNOWN) return no('conversation.not_found')
    this.conversations.push(blankConversation(task, key, parent))
    return WRITTEN
  }

  start(asked: { conversation: number; agent: string; prompt: boolean; leaseMs?: number }): Outcome {
    const { conversation, agent, prompt, leaseMs } = asked
    if (agent.trim() === '') return no('input.invalid')
    if (conversation === UNKNOWN) return no('conversation.not_found')
    const busy = this.#busy(conversation)
    if (busy !== undefined) return no(busy)
    this.#lease(this.#begin(conversation, agent, undefined, prompt), leaseMs)
    return WRITTEN
  }

  record({ session, holder, turns }: { session: number; holder: number; turns: readonly PlainTurn[] }): Outcome {
    if (turns.length === 0 || turns.some(({ roles }) => roles.length === 0)) return no('input.invalid')
    const found = this.sessions[session]
    if (found === undefined) return no('session.not_found')
    if (holder !== found.holder) return no('session.superseded')
    if (found.state !== 'active') return no('session.not_active')
    for (const { roles, calls } of turns) {
      found.turns += 1
      roles.forEach((role, index) => {
        this.#say(session, found.turns, role, index === roles.length - 1 && role === 'assistant' ? calls : [])
      })
    }
    return WRITTEN
  }

  /** Adds to the last turn of a session that a handoff holds, until its checkpoint is kept. */
  extend({ handoff, holder, turn }: { handoff: number; holder: number; turn: PlainTurn }): Outcome {
    if (turn.roles.length === 0) return no('input.invalid')
    const found = this.handoffs[handoff]
    if (found === undefined) return no('handoff.not_found')
    const source = this.#session(found.source)
    if (holder !== source.holder) return no('session.superseded')
    if (source.heldBy !== handoff) return no('session.illegal_transition')
    if (found.checkpoint !== undefined) return no('handoff.checkpointed')
    // Another session has spoken while it was paused.
    if (this.#conversation(source.conversation).messages.at(-1)?.session !== found.source) return no('turn.not_last')
    turn.roles.forEach((role, index) => {
      const calls = index === turn.roles.length - 1 && role === 'assistant' ? turn.calls : []
      this.#say(found.source, source.turns, role, calls)
    })
    return WRITTEN
  }

  setBudget({ conversation, budget }: { conversation: number; budget: PlainBudget }): Outcome {
    if (budget.maxRestarts < 0) return no('input.invalid')
    const found = this.conversations[conversation]
    if (found === undefined) return no('conversation.not_found')
    const { maxRestarts, whenExhausted } = found.budget
    if (budget.maxRestarts === maxRestarts && budget.whenExhausted === whenExhausted) return NOTHING_TO_WRITE
    found.budget = budget
    return WRITTEN
  }

  /** A new prompt gives a conversation its restarts again; the same one does not. */
  ask({ conversation, prompt }: { conversation: number; prompt: string }): Outcome {
    if (prompt.trim() === '') return no('input.invalid')
    const found = this.conversations[conversation]
    if (found === undefined) return no('conversation.not_found')
    if ((found.asked?.prompt ?? found.task) === prompt) return NOTHING_TO_WRITE
    found.asked = { prompt, restarts: this.#restartsOf(conversation) }
    return WRITTEN
  }

  pause({ session, holder }: { session: number; holder?: number }): Outcome {
    const refused = this.#byHand(session, holder, ['active'])
    if (refused !== undefined) return no(refused)
    this.#session(session).state = 'paused'
    this.#lease(session, undefined)
    return WRITTEN
  }

  resume({ session, holder }: { session: number; holder?: number }): Outcome {
    const found = this.sessions[session]
    if (found !== undefined) {
      const other = this.sessions.find((candidate) => candidate !== found && this.#works(candidate, found.conversation))
      if (other !== undefined)
        return no(other.state === 'active' ? 'conversation.session_active' : 'conversation.handoff_open')
    }
    const refused = this.#byHand(session, holder, ['paused'])
    if (refused !== undefined) return no(refused)
    this.#session(session).state = 'active'
    return WRITTEN
  }

  completeSession({ session, holder }: { session: number; holder?: number }): Outcome {
    const refused = this.#byHand(session, holder, ['active', 'paused'])
    if (refused !== undefined) return no(refused)
    this.#end(session, 'completed')
    return WRITTEN
  }

  failSession({ session, holder, reason }: { session: number; holder?: number; reason: string }): Outcome {
    if (reason.trim() === '') return no('input.invalid')
    const refused = this.#byHand(session, holder, ['active', 'paused'])
    if (refused !== undefined) return no(refused)
    this.#end(session, 'failed')
    return WRITTEN
  }

  takeOver({ session, leaseMs, ifAbandoned }: { session: number; leaseMs?: number; ifAbandoned?: true }): Outcome {
    const found = this.sessions[session]
    if (found === undefined) return no('session.not_found')
    // The first session of a thread waits for whoever comes first, until it is launched.
    const isThread = found.epoch === 1 && found.initiatedBy !== undefined
    const isWaiting = isThread && found.state === 'active' && found.turns === 0 && found.provider === undefined
    if (ifAbandoned && found.lease === undefined && !isWaiting) return no('session.not_leased')
    if (ifAbandoned && found.lease !== undefined && this.now < found.lease.until) return no('session.leased')
    if (found.state !== 'active' && found.state !== 'paused') return no('session.illegal_transition')
    found.holder = this.#token()
    // Nobody waits to hear of the holder of a session that is paused by hand.
    this.#lease(session, found.state === 'active' || found.heldBy !== undefined ? leaseMs : undefined)
    return WRITTEN
  }

  attach({ session, holder, provider }: { session: number; holder: number; provider: string }): Outcome {
    if (provider.trim() === '') return no('input.invalid')
    const found = this.sessions[session]
    if (found === undefined) return no('session.not_found')
    if (holder !== found.holder) return no('session.superseded')
    if (found.provider === provider) return NOTHING_TO_WRITE
    if (found.provider !== undefined && found.turns > 0) return no('session.attached')
    if (found.state !== 'active') return no('session.illegal_transition')
    found.provider = provider
    return WRITTEN
  }

  account({ session, holder, used }: { session: number; holder: number; used: number }): Outcome {
    if (used < 0) return no('input.invalid')
    const found = this.sessions[session]
    if (found === undefined) return no('session.not_found')
    if (holder !== found.holder) return no('session.superseded')
    if (found.state !== 'active' && found.state !== 'paused') return no('session.illegal_transition')
    found.used = used
    return WRITTEN
  }

  /** So many restarts a conversation, whatever became of them; and none for a session that gets nowhere again. */
  restart(asking: { session: number; holder: number; reason: string; failLater: boolean }): Outcome {
    const { session, holder, reason, failLater } = asking
    if (reason.trim() === '') return no('input.invalid')
    const found = this.sessions[session]
    if (found === undefined) return no('session.not_found')
    if (holder !== found.holder) return no('session.superseded')
    if (found.heldBy !== undefined) return no('handoff.already_open')
    if (found.state !== 'active') return no('session.not_active')
    const { budget, asked: prompted } = this.#conversation(found.conversation)
    const restarts = this.#restartsOf(found.conversation) - (prompted?.restarts ?? 0)
    const own = this.#conversation(found.conversation).messages.filter((said) => said.session === session)
    const spokenTo = own.findLast(({ role }) => role === 'user')?.sequence ?? found.start
    const gotSomewhere = own.some(({ calls }) => calls.length > 0) || spokenTo > found.start
    const cameFrom = found.initiatedBy === undefined ? undefined : this.handoffs[found.initiatedBy]
    const again = cameFrom?.flags.includes('no_progress') === true && !gotSomewhere
    const nowhere = cameFrom?.kind === 'context_restart' && (found.turns <= 1 || again)
    if (restarts >= budget.maxRestarts || nowhere) {
      if (budget.whenExhausted === 'stop' && !failLater) this.#end(session, 'failed')
      return WRITTEN
    }
    const asked = { session, agent: found.agent }
    const reasons = this.#against(asked, found)
    if (reasons.length > 0) return no(...reasons)
    const flags = gotSomewhere ? [] : ['no_progress']
    this.handoffs.push({ ...blankHandoff(asked, this.#calls(asked)), kind: 'context_restart', flags })
    found.state = 'paused'
    found.heldBy = this.handoffs.length - 1
    found.snapshots += 1
    return WRITTEN
  }

  keepCheckpoint(asked: { handoff: number; holder: number; document?: string; outcome: string }): Outcome {
    if (asked.document?.trim() === '') return no('input.invalid')
    const found = this.handoffs[asked.handoff]
    if (found === undefined) return no('handoff.not_found')
    if (asked.holder !== this.#session(found.source).holder) return no('session.superseded')
    if (found.status !== 'initiated') return no('handoff.illegal_transition')
    if (found.checkpoint !== undefined || found.document !== undefined) return no('handoff.checkpointed')
    found.document = asked.document
    found.checkpoint = asked.outcome
    if (asked.document === undefined) found.flags = [...found.flags, 'checkpoint_missing']
    else this.#session(found.source).snapshots += 1
    return WRITTEN
  }

  prepare(asked: { handoff: number; holder: number; claimant: string; continuation: string }): Outcome {
    const { claimant, continuation } = asked
    if (continuation.trim() === '') return no('input.invalid')
    const found = this.handoffs[asked.handoff]
    if (found === undefined) return no('handoff.not_found')
    if (asked.holder !== this.#session(found.source).holder) return no('session.superseded')
    if (found.status !== 'accepted') return no('handoff.illegal_transition')
    if (claimant !== found.claimant) return no('handoff.not_claimant')
    found.continuation = continuation
    return WRITTEN
  }

  snapshot({ session, holder }: { session: number; holder?: number }): Outcome {
    const found = this.sessions[session]
    if (found === undefined) return no('session.not_found')
    if (holder !== undefined && holder !== found.holder) return no('session.superseded')
    found.snapshots += 1
    return WRITTEN
  }

  initiate(asked: PlainHandoffRequest & { kind: string }): Outcome {
    if (asked.agent.trim() === '') return no('input.invalid')
    const found = this.sessions[asked.session]
    if (found === undefined) return no('session.not_found')
    if (asked.holder !== undefined && asked.holder !== found.holder) return no('session.superseded')
    const reasons: string[] = []
    if (found.heldBy !== undefined) reasons.push('handoff.already_open')
    else if (found.state !== 'active') reasons.push('session.not_active')
    reasons.push(...this.#against(asked, found))
    if (asked.kind === 'agent_transfer' && asked.agent.trim() === found.agent) reasons.push('handoff.same_agent')
    if (reasons.length > 0) return no(...reasons)
    this.handoffs.push({ ...blankHandoff(asked, this.#calls(asked)), kind: asked.kind })
    found.state = 'paused'
    found.heldBy = this.handoffs.length - 1
    found.snapshots += 1
    return WRITTEN
  }

  thread(asked: PlainHandoffRequest & { key?: string }): Outcome {
    if (asked.agent.trim() === '') return no('input.invalid')
    const found = this.sessions[asked.session]
    if (found === undefined) return no('session.not_found')
    if (asked.holder !== undefined && asked.holder !== found.holder) return no('session.superseded')
    const reasons: string[] = []
    const taken = asked.key !== undefined && this.conversations.some(({ key }) => key === asked.key)
    if (taken) reasons.push('conversation.key_taken')
    reasons.push(...this.#against(asked, found))
    if (reasons.length > 0) return no(...reasons)
    const handoff: PlainHandoff = { ...blankHandoff(asked, this.#calls(asked)), kind: 'thread' }
    this.handoffs.push(handoff)
    const { budget, ...source } = this.#conversation(found.conversation)
    const task = source.asked?.prompt ?? source.task
    this.conversations.push({ ...blankConversation(task, asked.key, found.conversation), budget })
    handoff.status = 'completed'
    handoff.claimant = asked.agent.trim()
    handoff.targetConversation = this.conversations.length - 1
    handoff.target = this.#begin(this.conversations.length - 1, asked.agent.trim(), this.handoffs.length - 1, true)
    found.snapshots += 1
    return WRITTEN
  }

  accept({ handoff, claimant, claimMs }: { handoff: number; claimant: string; claimMs: number }): Outcome {
    if (claimant.trim() === '') return no('input.invalid')
    if (claimMs < 1) return no('input.invalid')
    const found = this.handoffs[handoff]
    if (found === undefined) return no('handoff.not_found')
    if (found.status !== 'initiated' && found.status !== 'accepted') return no('handoff.illegal_transition')
    if (found.status === 'accepted' && this.now < found.deadline) return no('handoff.already_claimed')
    this.#claim(found, claimant, claimMs)
    return WRITTEN
  }

  claimNext({ agent, claimant, claimMs }: { agent: string; claimant: string; claimMs: number }): Outcome {
    if (claimant.trim() === '') return no('input.invalid')
    const found = this.handoffs.find(
      (handoff) =>
        handoff.agent === agent &&
        (handoff.status === 'initiated' || (handoff.status === 'accepted' && this.now >= handoff.deadline)),
    )
    if (found === undefined) return NOTHING_TO_WRITE
    this.#claim(found, claimant, claimMs)
    return WRITTEN
  }

  completeHandoff(asked: { handoff: number; claimant?: string; continuation?: string; leaseMs?: number }): Outcome {
    if (asked.continuation?.trim() === '') return no('input.invalid')
    const found = this.handoffs[asked.handoff]
    if (found === undefined) return no('handoff.not_found')
    if (found.status !== 'initiated' && found.status !== 'accepted') return no('handoff.illegal_transition')
    const by = asked.claimant ?? found.agent
    if (found.status === 'accepted' && by !== found.claimant) return no('handoff.not_claimant')
    const source = this.#session(found.source)
    this.#end(found.source, 'handed_off')
    source.heldBy = undefined
    source.terminatedBy = asked.handoff
    found.status = 'completed'
    found.claimant = by
    found.continuation = undefined
    found.target = this.#begin(source.conversation, found.agent, asked.handoff, true)
    this.#lease(found.target, asked.leaseMs)
    return WRITTEN
  }

  endHandoff(asked: { handoff: number; by?: string; reason: string }, status: 'cancelled' | 'failed'): Outcome {
    if (asked.reason.trim() === '') return no('input.invalid')
    const found = this.handoffs[asked.handoff]
    if (found === undefined) return no('handoff.not_found')
    if (found.status !== 'initiated' && found.status !== 'accepted') return no('handoff.illegal_transition')
    const stranger = found.status === 'accepted' && asked.by !== found.claimant
    if (stranger && this.now < found.deadline) return no('handoff.not_claimant')
    found.status = status
    found.endReason = asked.reason
    found.continuation = undefined
    const source = this.#session(found.source)
    source.state = 'active'
    source.heldBy = undefined
    return WRITTEN
  }

  #restartsOf(conversation: number): number {
    const isOne = ({ kind, source }: PlainHandoff): boolean =>
      kind === 'context_restart' && this.sessions[source]?.conversation === conversation
    return this.handoffs.filter(isOne).length
  }

  /** What is against any handoff of a session. */
  #against(asked: PlainHandoffRequest, source: PlainSession): readonly string[] {
    const reasons: string[] = []
    if (source.turns === 0) reasons.push('session.no_turns')
    if (asked.priorTurn === 'foreign') reasons.push('turn.not_found')
    const { messages } = this.#conversation(source.conversation)
    const missing = (asked.calls ?? []).some((call) => !messages.some(({ calls }) => calls.includes(call)))
    if (missing) reasons.push('tool_call.not_found')
    return reasons
  }

  /** Those named, else those since the user last spoke, else those of the last turn that has any. */
  #calls({ session, calls }: PlainHandoffRequest): readonly string[] {
    if (calls !== undefined) return calls
    const own = this.#conversation(this.#session(session).conversation).messages.filter(
      (said) => said.session === session,
    )
    const asked = own.map(({ role }) => role).lastIndexOf('user')
    const exchange = own.slice(Math.max(asked, 0)).flatMap((said) => said.calls)
    if (exchange.length > 0) return exchange
    const last = own.filter((said) => said.calls.length > 0).at(-1)?.turn
    return own.filter(({ turn }) => turn === last).flatMap((said) => said.calls)
  }

  #byHand(session: number, holder: number | undefined, from: readonly PlainSession['state'][]): string | undefined {
    const found = this.sessions[session]
    if (found === undefined) return 'session.not_found'
    if (holder !== undefined && holder !== found.holder) return 'session.superseded'
    if (found.heldBy !== undefined) return 'session.held'
    return from.includes(found.state) ? undefined : 'session.illegal_transition'
  }

  #works(session: PlainSession, conversation: number): boolean {
    return session.conversation === conversation && (session.state === 'active' || session.heldBy !== undefined)
  }

  #busy(conversation: number): string | undefined {
    const working = this.sessions.find((session) => this.#works(session, conversation))
    if (working === undefined) return undefined
    return working.state === 'active' ? 'conversation.session_active' : 'conversation.handoff_open'
  }

  #begin(conversation: number, agent: string, initiatedBy: number | undefined, speaks: boolean): number {
    this.sessions.push({
      conversation,
      epoch: this.sessions.filter((session) => session.conversation === conversation).length + 1,
      agent,
      start: this.#conversation(conversation).messages.length + 1,
      initiatedBy,
      state: 'active',
      holder: this.#token(),
      turns: 0,
      snapshots: 1,
      heldBy: undefined,
      end: undefined,
      terminatedBy: undefined,
      provider: undefined,
      used: undefined,
      lease: undefined,
    })
    const session = this.sessions.length - 1
    if (speaks) this.#say(session, 0, 'user', [])
    return session
  }

  #say(session: number, turn: number, role: 'user' | 'assistant', calls: readonly string[]): void {
    const { messages } = this.#conversation(this.#session(session).conversation)
    messages.push({ sequence: messages.length + 1, session, turn, role, calls })
  }

  #end(session: number, state: 'handed_off' | 'completed' | 'failed'): void {
    const found = this.#session(session)
    const { messages } = this.#conversation(found.conversation)
    found.state = state
    found.lease = undefined
    found.end = messages.findLast((said) => said.session === session)?.sequence
  }

  #claim(handoff: PlainHandoff, claimant: string, claimMs: number): void {
    handoff.status = 'accepted'
    handoff.claimant = claimant
    handoff.deadline = this.now + claimMs
  }

  #lease(session: number, leaseMs: number | undefined): void {
    const found = this.#session(session)
    found.lease = leaseMs === undefined ? undefined : { until: this.now + leaseMs, holder: found.holder }
  }

  #token(): number {
    this.tokens += 1
    return this.tokens - 1
  }

  #session(index: number): PlainSession {
    return this.sessions[index] as PlainSession
  }

  #conversation(index: number): PlainConversation {
    return this.conversations[index] as PlainConversation
  }
}

/** What a handoff or a thread is asked with. */
export interface PlainHandoffRequest {
  readonly session: number
  readonly holder?: number
  readonly agent: string
  readonly priorTurn?: 'foreign'
  readonly calls?: readonly string[]
}

const blankConversation = (task: string, key: string | undefined, parent: number | undefined): PlainConversation => ({
  ...{ task, key, parent, messages: [] },
  budget: { maxRestarts: 3, whenExhausted: 'stop' },
  asked: undefined,
})

const blankHandoff = ({ session, agent }: PlainHandoffRequest, calls: readonly string[]): PlainHandoff => ({
  source: session,
  kind: '',
  agent: agent.trim(),
  calls,
  status: 'initiated',
  claimant: undefined,
  deadline: 0,
  target: undefined,
  targetConversation: undefined,
  endReason: undefined,
  document: undefined,
  flags: [],
  checkpoint: undefined,
  continuation: undefined,
})
