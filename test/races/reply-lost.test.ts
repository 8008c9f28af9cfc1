import { describe, expect, it } from 'vitest'
import type { Answer } from '../../src/domain/decision.ts'
import type { HandoffMetadata } from '../../src/domain/handoff/handoff.ts'
import { agentSessionId, type CommandId, type ConversationId, commandId } from '../../src/domain/kernel/ids.ts'
import type { Result } from '../../src/domain/kernel/result.ts'
import type { Refusal } from '../../src/domain/refusal.ts'
import type { WorkingSession } from '../../src/domain/session/agent-session.ts'
import { unwrap } from '../../src/domain/unwrap.ts'
import type { Store } from '../../src/ports/store/store.ts'
import { StoreFailure } from '../../src/ports/store/store-failure.ts'
import { silentLogger } from '../../src/ports/system/logger.ts'
import { HandoffService } from '../../src/services/handoff-service.ts'
import { HandoffHistory } from '../../src/services/history/handoff-history.ts'
import { CountingIds } from '../../src/testing/counting-ids.ts'
import { type Fault, FaultInjector } from '../../src/testing/fault-injector.ts'
import { FixedClock } from '../../src/testing/fixed-clock.ts'
import { Scene } from '../../src/testing/scene.ts'
import { ReadBack } from '../cases/read-back.ts'
import { givenAgain } from '../support/given-again.ts'
import { openStore, RULE_STORES } from '../support/stores.ts'
import { jittered, randomFrom } from './jitter.ts'

/** A service over a store, and words that nobody else uses there. */
interface Stage {
  readonly service: HandoffService
  readonly history: HandoffHistory
  readonly name: (base: string) => string
}

/** A handoff, with the token of whoever works its source. */
type HandoffOfHolder = Pick<WorkingSession, 'holder'> & { readonly handoff: HandoffMetadata }

/** What is there before each command. */
interface Prepared {
  /** Nobody works in it. */
  readonly conversation: ConversationId
  /** Nobody works in it any more. */
  readonly closed: ConversationId
  readonly working: WorkingSession
  readonly paused: WorkingSession
  readonly handoff: HandoffMetadata
  /** It has no document yet. */
  readonly plain: HandoffOfHolder
  /** Somebody has claimed it, as `w`. */
  readonly claimed: HandoffOfHolder
}

/** One command: what it asks, given what is there. */
type Ask = (stage: Stage, there: Prepared, commandId: CommandId) => Promise<Result<Answer, Refusal>>

const TURN = {
  messages: [
    { role: 'user', text: 'Go on' },
    { role: 'assistant', text: 'Done', toolCalls: [{ callId: 'call-1', toolName: 'read_file' }] },
  ],
} as const

/** Every method of the service is a command, but for the one that binds it to a transaction. */
type CommandName = Exclude<keyof HandoffService, 'with'>

/** Every command of the service; a new one that is missing here does not compile. */
const COMMANDS: Readonly<Record<CommandName, Ask>> = {
  openConversation: ({ service, name }, _, id) =>
    service.openConversation({ originalTask: 'Fix it', externalKey: name('new-job'), commandId: id }),
  closeConversation: ({ service }, { conversation }, id) => service.closeConversation({ conversation, commandId: id }),
  reopenConversation: ({ service }, { closed }, id) =>
    service.reopenConversation({ conversation: closed, commandId: id }),
  setConversationMetadata: ({ service }, { conversation }, id) =>
    service.setConversationMetadata({ conversation, metadata: { ticket: 1 }, commandId: id }),
  setBudget: ({ service }, { conversation }, id) =>
    service.setBudget({ conversation, budget: { maxRestarts: 9 }, commandId: id }),
  askConversation: ({ service }, { conversation }, id) =>
    service.askConversation({ conversation, prompt: 'Something else', commandId: id }),
  setSessionMetadata: ({ service }, { working: { session } }, id) =>
    service.setSessionMetadata({ session, byHand: true, metadata: { ticket: 2 }, commandId: id }),
  recordLookBack: ({ service }, { working: { session } }, id) =>
    service.recordLookBack({ session, by: 'words', text: 'flaky test', found: 2, commandId: id }),
  setHandoffMetadata: ({ service }, { handoff }, id) =>
    service.setHandoffMetadata({ handoff, metadata: { ticket: 3 }, commandId: id }),
  renewClaim: ({ service }, { claimed: { handoff } }, id) =>
    service.renewClaim({ handoff, claimant: 'w', claimMs: 120_000, commandId: id }),
  startSession: ({ service }, { conversation: conversationId }, id) =>
    service.startSession({ conversationId, agentName: 'a', backend: 'scripted', prompt: 'Go', commandId: id }),
  pauseSession: ({ service }, { working }, id) => service.pauseSession({ ...working, commandId: id }),
  resumeSession: ({ service }, { paused }, id) => service.resumeSession({ ...paused, commandId: id }),
  completeSession: ({ service }, { working }, id) => service.completeSession({ ...working, commandId: id }),
  failSession: ({ service }, { working }, id) => service.failSession({ ...working, reason: 'Stuck', commandId: id }),
  takeOverSession: ({ service }, { working }, id) =>
    service.takeOverSession({ session: working.session.id, commandId: id }),
  attachSession: ({ service }, { working }, id) =>
    service.attachSession({ ...working, providerSessionId: 'provider-1', commandId: id }),
  accountSession: ({ service }, { working }, id) =>
    service.accountSession({
      ...working,
      totals: { inputTokens: 900, outputTokens: 80, costUsd: 0.25 },
      commandId: id,
    }),
  recordHooks: ({ service }, { working: { session } }, id) => {
    const { conversationId, id: sessionId } = session
    const result = { name: 'notify', type: 'shell', durationMs: 12, ok: true, output: 'sent', exitCode: 0 } as const
    return service.recordHooks({ conversationId, sessionId, moment: 'after_run', results: [result], commandId: id })
  },
  recordTurn: ({ service }, { working }, id) => service.recordTurn({ ...working, ...TURN, commandId: id }),
  recordTurns: ({ service }, { working }, id) =>
    service.recordTurns({ ...working, turns: [TURN, TURN], commandId: id }),
  captureSnapshot: ({ service }, { working }, id) => service.captureSnapshot({ ...working, commandId: id }),
  initiateHandoff: ({ service, name }, { working: { session } }, id) =>
    service.initiateHandoff({
      session,
      byHand: true,
      targetAgent: name('sonnet'),
      reason: 'Full',
      document: 'Notes',
      commandId: id,
    }),
  restartSession: ({ service }, { working }, id) =>
    service.restartSession({ ...working, reason: 'Full', flags: ['decided_by_hook'], commandId: id }),
  extendTurn: ({ service }, { plain }, id) =>
    service.extendTurn({ ...plain, messages: [{ role: 'tool', text: 'Green' }], commandId: id }),
  keepExtract: ({ service }, { plain }, id) =>
    service.keepExtract({ handoff: plain.handoff, extract: 'assistant: And then.', commandId: id }),
  keepCheckpoint: ({ service }, { plain }, id) => {
    const totals = { inputTokens: 900, outputTokens: 80, costUsd: 0.25 }
    const checkpoint = { outcome: 'kept', characters: 9, reason: 'Asked twice', totals } as const
    return service.keepCheckpoint({ ...plain, document: 'Half done', flags: [], checkpoint, commandId: id })
  },
  prepareHandoff: ({ service }, { claimed }, id) => {
    // Any id will do that nothing else has and that is the same when asked again.
    const targetSessionId = agentSessionId(claimed.handoff.id)
    return service.prepareHandoff({ ...claimed, claimant: 'w', continuation: 'Go on', targetSessionId, commandId: id })
  },
  acceptHandoff: ({ service }, { handoff }, id) => service.acceptHandoff({ handoff, claimant: 'w', commandId: id }),
  claimNext: ({ service, name }, _, id) =>
    service.claimNext({ targetAgent: name('opus'), claimant: 'w', commandId: id }),
  completeHandoff: ({ service }, { handoff }, id) => service.completeHandoff({ handoff, commandId: id }),
  cancelHandoff: ({ service }, { handoff }, id) => service.cancelHandoff({ handoff, reason: 'No', commandId: id }),
  failHandoff: ({ service }, { handoff }, id) => service.failHandoff({ handoff, reason: 'Broke', commandId: id }),
  openThread: ({ service, name }, { working: { session, holder } }, id) =>
    service.openThread({
      session,
      holder,
      targetAgent: name('opus'),
      reason: 'Aside',
      child: { externalKey: name('thread') },
      commandId: id,
    }),
}

/** Commands that make a token for the caller. */
const MAKERS: readonly string[] = ['startSession', 'takeOverSession', 'completeHandoff', 'openThread']

const ALL = Object.entries(COMMANDS) as readonly (readonly [CommandName, Ask])[]

/** The parts that a command needs; the others are not made, because most of the time of these tests would go into them. */
const NEEDS: Readonly<Record<CommandName, readonly (keyof Prepared)[]>> = {
  openConversation: [],
  closeConversation: ['conversation'],
  reopenConversation: ['closed'],
  setConversationMetadata: ['conversation'],
  setBudget: ['conversation'],
  askConversation: ['conversation'],
  setSessionMetadata: ['working'],
  setHandoffMetadata: ['handoff'],
  renewClaim: ['claimed'],
  startSession: ['conversation'],
  pauseSession: ['working'],
  resumeSession: ['paused'],
  completeSession: ['working'],
  failSession: ['working'],
  takeOverSession: ['working'],
  attachSession: ['working'],
  accountSession: ['working'],
  recordHooks: ['working'],
  recordTurn: ['working'],
  recordTurns: ['working'],
  captureSnapshot: ['working'],
  initiateHandoff: ['working'],
  restartSession: ['working'],
  extendTurn: ['plain'],
  keepExtract: ['plain'],
  keepCheckpoint: ['plain'],
  prepareHandoff: ['claimed'],
  acceptHandoff: ['handoff'],
  claimNext: ['handoff'],
  completeHandoff: ['handoff'],
  cancelHandoff: ['handoff'],
  failHandoff: ['handoff'],
  recordLookBack: ['working'],
  openThread: ['working'],
}

/** How each part is made. */
const makersOf = ({ service, name }: Stage): { readonly [Part in keyof Prepared]: () => Promise<Prepared[Part]> } => {
  const open = async (key: string): Promise<ConversationId> =>
    unwrap(await service.openConversation({ originalTask: 'Fix it', externalKey: name(key) })).conversation.id
  const work = async (key: string): Promise<WorkingSession> => {
    const agent = { conversationId: await open(key), agentName: name('claude-code'), backend: 'scripted' }
    const started = unwrap(await service.startSession(agent))
    return { ...started, ...unwrap(await service.recordTurn({ ...started, ...TURN })) }
  }
  const handedBy = async ({ session, holder }: WorkingSession, document?: string): Promise<HandoffOfHolder> => {
    const to = { targetAgent: name(document === undefined ? 'sonnet' : 'opus'), reason: 'Full' }
    const handing = { session, holder, ...to, ...(document !== undefined && { document }) }
    return { handoff: unwrap(await service.initiateHandoff(handing)).handoff, holder }
  }
  return {
    conversation: () => open('idle'),
    closed: async () => unwrap(await service.closeConversation({ conversation: await open('closed') })).conversation.id,
    working: () => work('working'),
    paused: async () => {
      const working = await work('paused')
      unwrap(await service.pauseSession(working))
      return working
    },
    handoff: async () => (await handedBy(await work('source'), 'Half done')).handoff,
    plain: async () => handedBy(await work('plain')),
    claimed: async () => {
      const { handoff, holder } = await handedBy(await work('claimed'))
      return { handoff: unwrap(await service.acceptHandoff({ handoff, claimant: 'w' })).handoff, holder }
    },
  }
}

/** A part that nobody has asked for is not there: a command that uses it nevertheless fails its test. */
const prepare = async (stage: Stage, needed: readonly (keyof Prepared)[]): Promise<Prepared> => {
  const makers = makersOf(stage)
  const made: Partial<Record<keyof Prepared, unknown>> = {}
  for (const part of needed) made[part] = await makers[part]()
  return made as unknown as Prepared
}

const KEYS = ['idle', 'closed', 'working', 'paused', 'source', 'plain', 'claimed', 'new-job', 'thread']

/** Everything that is kept in the conversations of a stage. */
const everything = async ({ name }: Stage, store: Store): Promise<readonly unknown[]> =>
  Promise.all(
    KEYS.map(async (key) => {
      const conversation = await store.conversations.findByExternalKey(name(key))
      return conversation && new ReadBack(store).everything(conversation.id)
    }),
  )

const entries = async ({ name }: Stage, store: Store): Promise<number> => {
  const found = await Promise.all(KEYS.map((key) => store.conversations.findByExternalKey(name(key))))
  const logs = await Promise.all(
    found.map((conversation) => conversation && new ReadBack(store).audit(conversation.id)),
  )
  return logs.reduce((count, log) => count + (log?.length ?? 0), 0)
}

/** The parts of an answer, read again through the ports. */
const stored = async (answer: Answer, store: Store): Promise<Answer> => {
  const { conversation, session, handoff, turns, snapshot } = answer
  return {
    ...answer,
    ...(conversation && { conversation: await store.conversations.find(conversation.id) }),
    ...(session && { session: await store.sessions.find(session.id) }),
    ...(handoff && { handoff: await store.handoffs.find(handoff.id) }),
    ...(turns && { turns: await Promise.all(turns.map(({ id }) => store.messages.findTurn(id))) }),
    ...(snapshot && { snapshot: await store.snapshots.find(snapshot.id) }),
  } as Answer
}

const failureOf = async (running: Promise<unknown>): Promise<StoreFailure> => {
  const failure = await running.then(
    (value) => new Error(`It answered ${JSON.stringify(value)}`),
    (problem: unknown) => problem,
  )
  expect(failure).toBeInstanceOf(StoreFailure)
  return failure as StoreFailure
}

describe.each(RULE_STORES)('on %s', (kind) => {
  /** A prepared store behind faults. */
  const behindFaults = async (command: CommandName) => {
    const scene = new Scene(await openStore(kind))
    const faults = new FaultInjector(scene.store)
    const stage: Stage = {
      service: scene.serviceOver(faults.store),
      history: scene.history,
      name: (base) => scene.name(base),
    }
    const another = (store: Store): HandoffService => scene.serviceOver(store)
    return {
      store: scene.store,
      faults,
      stage,
      there: await prepare(stage, NEEDS[command]),
      id: commandId(scene.ids.next()),
      another,
    }
  }

  describe.each(ALL)('%s', (name, ask) => {
    it('whose reply was lost gives, asked again, what was stored, and doubles nothing', async () => {
      const { store, faults, stage, there, id } = await behindFaults(name)
      const before = await entries(stage, store)
      faults.plan('reply_lost')
      const failure = await failureOf(ask(stage, there, id))
      expect(failure).toMatchObject({ code: 'store.unavailable', retryable: true })
      const once = await everything(stage, store)
      const count = await entries(stage, store)
      expect(count).toBeGreaterThan(before)
      const answer = unwrap(await ask(stage, there, id))
      expect(answer).toStrictEqual(await stored(answer, store))
      expect(unwrap(await ask(stage, there, id))).toStrictEqual(givenAgain(answer))
      expect(await entries(stage, store)).toBe(count)
      expect(await everything(stage, store)).toStrictEqual(once)
    })

    it('on an unavailable store throws, stores nothing, and works when tried again', async () => {
      const { store, faults, stage, there, id } = await behindFaults(name)
      const before = await everything(stage, store)
      faults.plan('unavailable')
      const failure = await failureOf(ask(stage, there, id))
      expect(failure).toMatchObject({ name: 'StoreFailure', code: 'store.unavailable', retryable: true })
      expect(await everything(stage, store)).toStrictEqual(before)
      const answer = unwrap(await ask(stage, there, id))
      expect(answer).toStrictEqual(await stored(answer, store))
    })

    it('that meets a conflict succeeds nevertheless, once', async () => {
      const { store, faults, stage, there, id } = await behindFaults(name)
      faults.plan('conflict', 'conflict')
      const answer = unwrap(await ask(stage, there, id))
      expect(answer).toStrictEqual(await stored(answer, store))
      const once = await everything(stage, store)
      expect(unwrap(await ask(stage, there, id))).toStrictEqual(givenAgain(answer))
      expect(await everything(stage, store)).toStrictEqual(once)
    })

    it('on a store that conflicts and then loses the reply still happens once', async () => {
      const { store, faults, stage, there, id } = await behindFaults(name)
      faults.plan('conflict', 'reply_lost')
      await failureOf(ask(stage, there, id))
      const once = await everything(stage, store)
      const answer = unwrap(await ask(stage, there, id))
      expect(answer).toStrictEqual(await stored(answer, store))
      expect(await everything(stage, store)).toStrictEqual(once)
    })
  })

  it.each(ALL)('%s asked three times at once under one command id happens once', async (name, ask) => {
    const { store, stage, there, id, another } = await behindFaults(name)
    const racing: Stage = { ...stage, service: another(jittered(store, randomFrom(7))) }
    const answers = await Promise.all([racing, stage, racing].map((asking) => ask(asking, there, id)))
    const all = answers.map(unwrap)
    const first = givenAgain(all[0] ?? {})
    for (const answer of all) expect(givenAgain(answer)).toStrictEqual(first)
    // One token counts, and nobody is given another: two calls of one service may share it.
    const made = all.filter(({ turns }) => turns === undefined).flatMap(({ holder }) => holder ?? [])
    expect(new Set(made).size).toBe(MAKERS.includes(name) ? 1 : 0)
    const once = await everything(stage, store)
    expect(unwrap(await ask(stage, there, id))).toStrictEqual(first)
    expect(await everything(stage, store)).toStrictEqual(once)
    expect(first).toStrictEqual(await stored(first, store))
  })

  it('a store that never stops conflicting is a failure that may be tried again', async () => {
    const { faults, stage, there, id } = await behindFaults('pauseSession')
    faults.plan(...Array.from({ length: 1_000 }, () => 'conflict' as const))
    const failure = await failureOf(stage.service.pauseSession({ ...there.working, commandId: id }))
    expect(failure).toMatchObject({ code: 'store.contention', retryable: true })
    expect(failure.message).toContain('the last at: a planned fault')
  })

  it('a conflict is told to the logger, with where it was', async () => {
    const { faults, there, id } = await behindFaults('pauseSession')
    const told: unknown[] = []
    const logger = { ...silentLogger, debug: (fields: object) => void told.push(fields) }
    const service = new HandoffService({
      store: faults.store,
      clock: new FixedClock(),
      ids: new CountingIds(7),
      logger,
    })
    faults.plan('conflict')
    unwrap(await service.pauseSession({ ...there.working, commandId: id }))
    expect(told).toEqual([{ command: id, conflicts: 1, at: 'a planned fault' }])
  })

  describe('asked again after everything moved on', () => {
    /** Carries on with whatever the first answer gave, so that all of it has changed. */
    const moveOn = async (
      { service, history, name }: Stage,
      { session, holder: own, handoff }: Answer,
    ): Promise<void> => {
      if (handoff?.status === 'accepted') unwrap(await service.completeHandoff({ handoff, claimant: 'w' }))
      if (handoff?.status === 'initiated') unwrap(await service.cancelHandoff({ handoff, reason: 'Moved on' }))
      const now = session && (await history.session(session.id))
      if (now?.state === 'paused') unwrap(await service.resumeSession({ session: now, byHand: true }))
      const open = now && (await history.session(now.id))
      if (open === undefined || (open.state !== 'active' && open.state !== 'paused')) return
      const holder = own ?? unwrap(await service.takeOverSession({ session: open.id })).holder
      const turned = unwrap(await service.recordTurn({ session: open.id, holder, ...TURN }))
      const onward = { session: turned.session, holder, targetAgent: name('gemini'), reason: 'Onward' }
      unwrap(await service.completeHandoff(unwrap(await service.initiateHandoff(onward))))
    }

    it.each(ALL)('%s gives the first answer', async (name, ask) => {
      const { store, stage, there, id } = await behindFaults(name)
      const first = unwrap(await ask(stage, there, id))
      await moveOn(stage, first)
      const moved = await everything(stage, store)
      expect(unwrap(await ask(stage, there, id))).toStrictEqual(givenAgain(first))
      expect(await everything(stage, store)).toStrictEqual(moved)
    })

    it.each(ALL)('%s gives a token only if it made one, and not again', async (name, ask) => {
      const { store, stage, there, id } = await behindFaults(name)
      const first = unwrap(await ask(stage, there, id))
      const { session, holder } = first
      // A turn is answered with the token that it was recorded with: its caller has it already.
      const isGivenBack = name === 'recordTurn' || name === 'recordTurns'
      expect(holder !== undefined).toBe(MAKERS.includes(name) || isGivenBack)
      if (session === undefined || holder === undefined || isGivenBack) return
      unwrap(await stage.service.takeOverSession({ session: session.id }))
      const moved = await everything(stage, store)
      expect(unwrap(await ask(stage, there, id))).toStrictEqual(givenAgain(first))
      expect(await everything(stage, store)).toStrictEqual(moved)
    })
  })
})

describe('a lost reply, beside a run without a fault', () => {
  /** Runs a command twice in the same world, from the same first id on: without and with faults. */
  const run = async ([name, ask]: (typeof ALL)[number], ...planned: readonly Fault[]) => {
    const { store } = await openStore('memory')
    const faults = new FaultInjector(store)
    const service = new HandoffService({ store: faults.store, clock: new FixedClock(), ids: new CountingIds(7) })
    const stage: Stage = { service, history: new HandoffHistory({ store }), name: (base) => base }
    const there = await prepare(stage, NEEDS[name])
    const id = commandId('0190a0a0-0000-7000-8000-000000000001')
    faults.plan(...planned)
    if (planned.includes('reply_lost')) await failureOf(ask(stage, there, id))
    const { holder, ...answer } = unwrap(await ask(stage, there, id))
    // Tokens are random: that there is one is the same.
    return { answer, hasToken: holder !== undefined, kept: await everything(stage, store) }
  }

  it.each(ALL)('%s leaves the same answer and the same store', async (...command) => {
    const calm = await run(command)
    expect(await run(command, 'reply_lost')).toStrictEqual(calm)
    expect(await run(command, 'conflict')).toStrictEqual(calm)
  })
})
