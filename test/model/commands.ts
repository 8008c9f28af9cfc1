import type { Answer } from '../../src/domain/decision.ts'
import { type AgentSessionId, agentSessionId, type CommandId, type HolderToken } from '../../src/domain/kernel/ids.ts'
import type { Result } from '../../src/domain/kernel/result.ts'
import type { Refusal } from '../../src/domain/refusal.ts'
import type { AgentSession } from '../../src/domain/session/agent-session.ts'
import type { HolderOrHand } from '../../src/services/commands/requests.ts'
import { type Outcome, type PlainTurn, UNKNOWN } from './plain-model.ts'
import type { World } from './world.ts'

/** Small numbers that choose what a command is about. */
export interface Choices {
  /** Which entity. */
  readonly which: number
  /** Which variant. */
  readonly how: number
  /** Which copy and which holder. */
  readonly who: number
  /** 0 spoils the input. */
  readonly flaw: number
}

/** One command, for the real thing and for the model. */
export interface Planned {
  readonly perform: (commandId: CommandId) => Promise<Result<Answer, Refusal>>
  readonly expect: () => Outcome
  /** What it asks cannot be used, whatever is stored: that is said before anything is looked up. */
  readonly isInvalid?: boolean
  /** The store's clock moves on after it. */
  readonly passes?: number
}

type Plan = (world: World, choices: Choices) => Planned

/** A claim that lapses within a run, and one that never does. */
const BRIEF_MS = 40
const LONG_MS = 600_000

/** None, one that lapses within a run, or one that never does. */
const leaseOf = (how: number): { readonly leaseMs?: number } =>
  [{}, { leaseMs: BRIEF_MS }, { leaseMs: LONG_MS }][how % 3] ?? {}

/** What lapses within a run is left to lapse at once where the clock goes on by itself. */
const lapsing = ({ leaseMs }: { readonly leaseMs?: number }) => (leaseMs === BRIEF_MS ? { passes: BRIEF_MS } : {})

const CLAIMANTS = ['worker-1', 'worker-2', 'worker-3'] as const
const claimantOf = (how: number): string => CLAIMANTS[how % 3] ?? 'worker-1'
const AGENTS = ['claude-code', 'opus', 'sonnet'] as const
const agentOf = ({ scene }: World, how: number): string => scene.name(AGENTS[how % 3] ?? 'opus')

const sessionsIn = ({ model }: World, ...situations: readonly string[]): readonly number[] =>
  model.sessions.flatMap(({ state, heldBy }, index) =>
    situations.includes(heldBy === undefined ? state : 'held') ? [index] : [],
  )

const openHandoffs = ({ model }: World): readonly number[] =>
  model.handoffs.flatMap(({ status }, index) => (status === 'initiated' || status === 'accepted' ? [index] : []))

const withTurns = (world: World): readonly number[] =>
  sessionsIn(world, 'active').filter((index) => (world.model.sessions[index]?.turns ?? 0) > 0)

const idleConversations = ({ model }: World): readonly number[] =>
  [...model.conversations.keys()].filter(
    (index) =>
      !model.sessions.some(
        ({ conversation, state, heldBy }) => conversation === index && (state === 'active' || heldBy !== undefined),
      ),
  )

interface Who {
  /** For the real thing. */
  readonly real: { readonly session: AgentSession | AgentSessionId } & HolderOrHand
  /** For the model. */
  readonly plain: { readonly session: number; readonly holder?: number }
}

/** Who asks: by id, with the newest copy or an old one; as the holder, a superseded or foreign one, or nobody. */
const asking = (world: World, session: number, who: number, mustHold: boolean): Who => {
  const id = world.session(session)
  const copies = world.copies[session] ?? []
  const [newest, oldest] = [copies.at(-1), copies[Math.floor(who / 64) % Math.max(copies.length, 1)]]
  const copy = [id, newest ?? id, newest ?? id, oldest ?? id][who % 4] ?? id
  const right = world.model.sessions[session]?.holder ?? 0
  const wrong = (world.holders[session] ?? []).find((token) => token !== right) ?? (right + 1) % world.tokens.length
  const kind = Math.floor(who / 4) % 8
  const token = kind === 0 ? wrong : right
  const holder = world.tokens[token]
  if (holder === undefined || (!mustHold && kind > 4)) {
    return mustHold
      ? { real: { session: copy, holder: world.scene.ids.next() as HolderToken }, plain: { session, holder: UNKNOWN } }
      : { real: { session: copy, byHand: true }, plain: { session } }
  }
  return { real: { session: copy, holder }, plain: { session, holder: token } }
}

const SHAPES: readonly (readonly PlainTurn['roles'][])[] = [
  [['user', 'assistant']],
  [['assistant']],
  [['user', 'assistant'], ['assistant']],
  [['user']],
]

const turnsFor = (world: World, { how, flaw }: Choices): readonly PlainTurn[] => {
  if (flaw === 0) return how % 2 === 0 ? [] : [{ roles: [], calls: [] }]
  return (SHAPES[how % 4] ?? []).map((roles) => {
    const count = roles.at(-1) === 'assistant' ? Math.floor(how / 4) % 3 : 0
    return { roles, calls: Array.from({ length: count }, () => `call-${++world.calls}`) }
  })
}

const reported = ({ roles, calls }: PlainTurn) => ({
  messages: roles.map((role, index) =>
    role === 'assistant'
      ? {
          role,
          text: 'Done',
          toolCalls: index === roles.length - 1 ? calls.map((callId) => ({ callId, toolName: 'tool' })) : [],
        }
      : { role, text: 'Go on' },
  ),
})

/** What a handoff or a thread names: its agent, and sometimes a prior turn or tool calls, right or wrong. */
const naming = (world: World, session: number, { how, flaw }: Choices) => {
  const { model, scene } = world
  const own = model.sessions[session]
  const variant = Math.floor(how / 3) % 16
  const first = agentOf(world, how)
  const agent = first === own?.agent && variant > 3 ? agentOf(world, how + 1) : first
  const targetAgent = flaw === 0 ? ' \t' : ` ${agent} `
  const reason = 'Full'
  const said = own === undefined ? [] : (model.conversations[own.conversation]?.messages ?? [])
  const call = said.flatMap(({ calls }) => calls).at(-1)
  const foreign = world.turns.find((turn) => model.sessions[turn.session]?.conversation !== own?.conversation)
  const plain = { agent: targetAgent }
  const real = { targetAgent, reason }
  if (variant === 0 && foreign !== undefined) {
    return { plain: { ...plain, priorTurn: 'foreign' as const }, real: { ...real, priorTurn: foreign.id } }
  }
  const named = variant === 1 ? scene.name('no-call') : variant === 2 ? call : undefined
  if (named === undefined) return { plain, real }
  return { plain: { ...plain, calls: [named] }, real: { ...real, toolCalls: [named] } }
}

const byHand =
  (
    situations: readonly string[],
    perform: (world: World, who: Who, commandId: CommandId) => Promise<Result<Answer, Refusal>>,
    expect: (world: World, who: Who) => Outcome,
  ): Plan =>
  (world, { which, who }) => {
    const session = world.pick(world.sessions.length, sessionsIn(world, ...situations), which)
    const asked = asking(world, session, who, false)
    return { perform: (commandId) => perform(world, asked, commandId), expect: () => expect(world, asked) }
  }

const ending =
  (status: 'cancelled' | 'failed'): Plan =>
  (world, { which, how, flaw }) => {
    const { service } = world.scene
    const index = world.pick(world.handoffs.length, openHandoffs(world), which)
    const handoff = world.handoff(index)
    const reason = flaw === 0 ? '' : `Reason ${how % 4}`
    const by = how % 4 === 3 ? {} : { by: claimantOf(how) }
    const ask = { handoff, reason, ...by }
    return {
      perform: (commandId) =>
        status === 'cancelled'
          ? service.cancelHandoff({ ...ask, commandId })
          : service.failHandoff({ ...ask, commandId }),
      expect: () => world.model.endHandoff({ handoff: index, reason, ...by }, status),
      isInvalid: flaw === 0,
    }
  }

/** Every command, planned on what is there. */
export const PLANS = {
  open: (world, { which, how, flaw }) => {
    const { scene, model } = world
    const task = flaw === 0 ? ' ' : `Task ${how}`
    const key = how % 3 === 0 ? { key: scene.name(`key-${how % 5}`) } : {}
    const parent = which % 5 === 0 ? { parent: world.pick(world.conversations.length, [], which) } : {}
    const parentId = parent.parent === undefined ? {} : { parentId: world.conversation(parent.parent) }
    const externalKey = key.key === undefined ? {} : { externalKey: key.key }
    const asked = { originalTask: task, ...externalKey, ...parentId }
    return {
      perform: (commandId) => scene.service.openConversation({ ...asked, commandId }),
      expect: () => model.open({ task, ...key, ...parent }),
      isInvalid: flaw === 0,
    }
  },
  start: (world, { which, how, flaw }) => {
    const { scene, model } = world
    const index = world.pick(world.conversations.length, idleConversations(world), which)
    const agent = flaw === 0 ? '' : agentOf(world, how)
    const prompt = how % 2 === 0
    const lease = leaseOf(how)
    const asked = { conversationId: world.conversation(index), agentName: agent, backend: 'scripted', ...lease }
    return {
      perform: (commandId) => scene.service.startSession({ ...asked, ...(prompt && { prompt: 'Begin' }), commandId }),
      expect: () => model.start({ conversation: index, agent, prompt, ...lease }),
      isInvalid: flaw === 0,
      ...lapsing(lease),
    }
  },
  record: (world, choices) => {
    const session = world.pick(world.sessions.length, sessionsIn(world, 'active'), choices.which)
    const { real, plain } = asking(world, session, choices.who, true)
    const turns = turnsFor(world, choices)
    const asked = { session: real.session, holder: real.holder as HolderToken, turns: turns.map(reported) }
    return {
      perform: (commandId) => world.scene.service.recordTurns({ ...asked, commandId }),
      expect: () => world.model.record({ session, holder: plain.holder ?? UNKNOWN, turns }),
      isInvalid: choices.flaw === 0,
    }
  },
  extend: (world, { which, how, who, flaw }) => {
    const index = world.pick(world.handoffs.length, openHandoffs(world), which)
    const { real, plain } = asking(world, world.model.handoffs[index]?.source ?? UNKNOWN, who, true)
    const calls = Array.from({ length: how % 3 }, () => `call-${++world.calls}`)
    const turn: PlainTurn =
      flaw === 0 ? { roles: [], calls: [] } : { roles: how % 2 ? ['user', 'assistant'] : ['assistant'], calls }
    const asked = { handoff: world.handoff(index), holder: real.holder as HolderToken, ...reported(turn) }
    return {
      perform: (commandId) => world.scene.service.extendTurn({ ...asked, commandId }),
      expect: () => world.model.extend({ handoff: index, holder: plain.holder ?? UNKNOWN, turn }),
      isInvalid: flaw === 0,
    }
  },
  setBudget: (world, { which, how, flaw }) => {
    const index = world.pick(world.conversations.length, [], which)
    const whenExhausted = how % 5 === 0 ? ('carry_on' as const) : ('stop' as const)
    const budget = { maxRestarts: flaw === 0 ? -1 : how % 5, whenExhausted }
    return {
      perform: (commandId) =>
        world.scene.service.setBudget({ conversation: world.conversation(index), budget, commandId }),
      expect: () => world.model.setBudget({ conversation: index, budget }),
      isInvalid: flaw === 0,
    }
  },
  ask: (world, { which, how, flaw }) => {
    const index = world.pick(world.conversations.length, [], which)
    const prompt = flaw === 0 ? ' ' : `Prompt ${how % 2}`
    return {
      perform: (commandId) =>
        world.scene.service.askConversation({ conversation: world.conversation(index), prompt, commandId }),
      expect: () => world.model.ask({ conversation: index, prompt }),
      isInvalid: flaw === 0,
    }
  },
  pause: byHand(
    ['active'],
    ({ scene }, { real }, commandId) => scene.service.pauseSession({ ...real, commandId }),
    ({ model }, { plain }) => model.pause(plain),
  ),
  resume: byHand(
    ['paused'],
    ({ scene }, { real }, commandId) => scene.service.resumeSession({ ...real, commandId }),
    ({ model }, { plain }) => model.resume(plain),
  ),
  completeSession: byHand(
    ['active', 'paused'],
    ({ scene }, { real }, commandId) => scene.service.completeSession({ ...real, commandId }),
    ({ model }, { plain }) => model.completeSession(plain),
  ),
  failSession: (world, { which, who, how, flaw }) => {
    const session = world.pick(world.sessions.length, sessionsIn(world, 'active', 'paused'), which)
    const { real, plain } = asking(world, session, who, false)
    const reason = flaw === 0 ? '\n' : `Reason ${how % 4}`
    return {
      perform: (commandId) => world.scene.service.failSession({ ...real, reason, commandId }),
      expect: () => world.model.failSession({ ...plain, reason }),
      isInvalid: flaw === 0,
    }
  },
  takeOver: (world, { which, how, who }) => {
    const session = world.pick(world.sessions.length, sessionsIn(world, 'active', 'paused', 'held'), which)
    const { real } = asking(world, session, who, false)
    const asked = { ...leaseOf(how), ...(how % 4 < 2 && { ifAbandoned: true as const }) }
    return {
      perform: (commandId) => world.scene.service.takeOverSession({ session: real.session, ...asked, commandId }),
      expect: () => world.model.takeOver({ session, ...asked }),
      ...lapsing(asked),
    }
  },
  attach: (world, { which, how, who, flaw }) => {
    const session = world.pick(world.sessions.length, sessionsIn(world, 'active'), which)
    const { real, plain } = asking(world, session, who, true)
    const provider = flaw === 0 ? ' ' : world.scene.name(`provider-${how % 2}`)
    const asked = { session: real.session, holder: real.holder as HolderToken, providerSessionId: provider }
    return {
      perform: (commandId) => world.scene.service.attachSession({ ...asked, commandId }),
      expect: () => world.model.attach({ session, holder: plain.holder ?? UNKNOWN, provider }),
      isInvalid: flaw === 0,
    }
  },
  account: (world, { which, how, who, flaw }) => {
    const session = world.pick(world.sessions.length, sessionsIn(world, 'active', 'paused', 'held'), which)
    const { real, plain } = asking(world, session, who, true)
    const used = flaw === 0 ? -1 : how
    const asked = { session: real.session, holder: real.holder as HolderToken }
    return {
      perform: (commandId) =>
        world.scene.service.accountSession({ ...asked, totals: { inputTokens: used, outputTokens: 1 }, commandId }),
      expect: () => world.model.account({ session, holder: plain.holder ?? UNKNOWN, used }),
      isInvalid: flaw === 0,
    }
  },
  restart: (world, { which, how, who, flaw }) => {
    const session = world.pick(world.sessions.length, withTurns(world), which)
    const { real, plain } = asking(world, session, who, true)
    const reason = flaw === 0 ? ' ' : 'Full'
    const failLater = how % 4 === 0
    const asked = { session: real.session, holder: real.holder as HolderToken, reason, failLater }
    return {
      perform: (commandId) => world.scene.service.restartSession({ ...asked, commandId }),
      expect: () => world.model.restart({ session, holder: plain.holder ?? UNKNOWN, reason, failLater }),
      isInvalid: flaw === 0,
    }
  },
  keepCheckpoint: (world, { which, how, who, flaw }) => {
    const index = world.pick(world.handoffs.length, openHandoffs(world), which)
    const handoff = world.handoff(index)
    const { real, plain } = asking(world, world.model.handoffs[index]?.source ?? UNKNOWN, who, true)
    const holder = real.holder as HolderToken
    const document = flaw === 0 ? ' ' : `Notes ${how}`
    const isThere = how % 3 !== 0
    const outcome = isThere ? 'kept' : 'missing'
    const flags = isThere ? [] : (['checkpoint_missing'] as const)
    const left = isThere ? { document } : {}
    return {
      perform: (commandId) =>
        world.scene.service.keepCheckpoint({ handoff, holder, ...left, flags, checkpoint: { outcome }, commandId }),
      expect: () => world.model.keepCheckpoint({ handoff: index, holder: plain.holder ?? UNKNOWN, ...left, outcome }),
      isInvalid: flaw === 0 && isThere,
    }
  },
  prepare: (world, { which, how, who, flaw }) => {
    const claimed = world.indices(world.model.handoffs, ({ status }) => status === 'accepted')
    const index = world.pick(world.handoffs.length, claimed, which)
    const handoff = world.handoff(index)
    const claimedBy = world.model.handoffs[index]?.claimant
    const claimant = how % 4 !== 0 && claimedBy !== undefined ? claimedBy : claimantOf(how)
    const continuation = flaw === 0 ? ' ' : `Go on ${how}`
    const targetSessionId = agentSessionId(world.scene.ids.next())
    const { real, plain } = asking(world, world.model.handoffs[index]?.source ?? UNKNOWN, who, true)
    const asked = { handoff, holder: real.holder as HolderToken, claimant, continuation, targetSessionId }
    return {
      perform: (commandId) => world.scene.service.prepareHandoff({ ...asked, commandId }),
      expect: () => world.model.prepare({ handoff: index, holder: plain.holder ?? UNKNOWN, claimant, continuation }),
      isInvalid: flaw === 0,
    }
  },
  snapshot: byHand(
    [],
    ({ scene }, { real }, commandId) => scene.service.captureSnapshot({ ...real, commandId }),
    ({ model }, { plain }) => model.snapshot(plain),
  ),
  initiate: (world, choices) => {
    const session = world.pick(world.sessions.length, withTurns(world), choices.which)
    const { real, plain } = asking(world, session, choices.who, false)
    const named = naming(world, session, choices)
    const kind = choices.how % 4 === 0 ? 'context_restart' : 'agent_transfer'
    return {
      perform: (commandId) => world.scene.service.initiateHandoff({ ...real, ...named.real, kind, commandId }),
      expect: () => world.model.initiate({ ...plain, ...named.plain, kind }),
      isInvalid: choices.flaw === 0,
    }
  },
  thread: (world, choices) => {
    const sensible = world.indices(world.model.sessions, ({ turns }) => turns > 0)
    const session = world.pick(world.sessions.length, sensible, choices.which)
    const { real, plain } = asking(world, session, choices.who, false)
    const named = naming(world, session, choices)
    const key = choices.how % 4 === 0 ? world.scene.name(`key-${choices.how % 5}`) : undefined
    const child = key === undefined ? {} : { child: { externalKey: key } }
    return {
      perform: (commandId) => world.scene.service.openThread({ ...real, ...named.real, ...child, commandId }),
      expect: () => world.model.thread({ ...plain, ...named.plain, ...(key !== undefined && { key }) }),
      isInvalid: choices.flaw === 0,
    }
  },
  accept: (world, { which, how, flaw }) => {
    const waiting = world.indices(
      world.model.handoffs,
      ({ status, deadline }) => status === 'initiated' || (status === 'accepted' && world.model.now >= deadline),
    )
    const index = world.pick(world.handoffs.length, waiting, which)
    const handoff = world.handoff(index)
    const claimant = flaw === 0 ? ' ' : claimantOf(how)
    const claimMs = flaw === 1 ? 0 : how % 2 === 0 ? BRIEF_MS : LONG_MS
    return {
      perform: (commandId) => world.scene.service.acceptHandoff({ handoff, claimant, claimMs, commandId }),
      expect: () => world.model.accept({ handoff: index, claimant, claimMs }),
      isInvalid: flaw < 2,
      ...(claimMs === BRIEF_MS && { passes: BRIEF_MS }),
    }
  },
  claimNext: (world, { which, how, flaw }) => {
    const agent = agentOf(world, which)
    const claimant = flaw === 0 ? '' : claimantOf(how)
    const claimMs = how % 2 === 0 ? BRIEF_MS : LONG_MS
    return {
      perform: (commandId) => world.scene.service.claimNext({ targetAgent: ` ${agent}`, claimant, claimMs, commandId }),
      expect: () => world.model.claimNext({ agent, claimant, claimMs }),
      isInvalid: flaw === 0,
      ...(claimMs === BRIEF_MS && { passes: BRIEF_MS }),
    }
  },
  completeHandoff: (world, { which, how, flaw }) => {
    const index = world.pick(world.handoffs.length, openHandoffs(world), which)
    const handoff = world.handoff(index)
    const claimedBy = world.model.handoffs[index]?.claimant
    const claimant = how % 3 !== 0 && claimedBy !== undefined ? claimedBy : claimantOf(how)
    const lease = leaseOf(how)
    const asked = { ...(how % 4 !== 0 && { claimant }), ...(flaw === 0 && { continuation: ' ' }), ...lease }
    return {
      perform: (commandId) => world.scene.service.completeHandoff({ handoff, ...asked, commandId }),
      expect: () => world.model.completeHandoff({ handoff: index, ...asked }),
      isInvalid: flaw === 0,
      ...lapsing(lease),
    }
  },
  cancelHandoff: ending('cancelled'),
  failHandoff: ending('failed'),
} as const satisfies Record<string, Plan>

export type CommandKind = keyof typeof PLANS

/** What would make sense instead of a command that nothing is there for. */
export const sensibleInstead = (world: World, kind: CommandKind): CommandKind => {
  const onHandoff = [
    'accept',
    'claimNext',
    'extend',
    'keepCheckpoint',
    'prepare',
    'completeHandoff',
    'cancelHandoff',
    'failHandoff',
  ]
  const isOnHandoff = onHandoff.includes(kind)
  if (isOnHandoff && openHandoffs(world).length === 0) return sensibleInstead(world, 'initiate')
  if ((kind === 'initiate' || kind === 'restart') && withTurns(world).length === 0)
    return sensibleInstead(world, 'record')
  if (kind === 'resume' && sessionsIn(world, 'paused').length === 0) return sensibleInstead(world, 'pause')
  const needsActive = kind === 'record' || kind === 'pause' || kind === 'attach'
  if (needsActive && sessionsIn(world, 'active').length === 0) return sensibleInstead(world, 'start')
  return kind === 'start' && idleConversations(world).length === 0 ? 'open' : kind
}
