import assert from 'node:assert/strict'
import { expecting } from '../../domain/decision.ts'
import { commandId, type HolderToken, holderToken } from '../../domain/kernel/ids.ts'
import type { Refusal } from '../../domain/refusal.ts'
import { unwrap } from '../../domain/unwrap.ts'
import { tokenDigest } from '../../ports/system/holder-tokens.ts'
import { mustHold } from '../../services/commands/answers.ts'
import { COMMANDS } from '../../services/commands/command-list.ts'
import { refusal } from '../expected-refusal.ts'
import { FaultInjector } from '../fault-injector.ts'
import type { Scene } from '../scene.ts'
import type { ContractPart } from '../store-contract.ts'
import { rawUnit } from './raw-unit.ts'
import { ask, type CommandName, READY, type Ready } from './ready-commands.ts'
import { assertIntact } from './trail.ts'

/**
 * Who may ask. `holder`: only the holder, who shows the token. `holder_or_hand`: the holder, or anyone who says that they
 * act by hand. `claim`: anyone, as the claim on the handoff allows. `anyone`: it changes no session. `new_holder`: it makes
 * a holder. Where it is not needed, a token that is shown must be the current one.
 */
type Fence = 'holder' | 'holder_or_hand' | 'claim' | 'anyone' | 'new_holder'

const FENCES: { readonly [Name in CommandName]: Fence } = {
  recordTurn: 'holder',
  recordTurns: 'holder',
  attachSession: 'holder',
  accountSession: 'holder',
  restartSession: 'holder',
  extendTurn: 'holder',
  keepCheckpoint: 'holder',
  prepareHandoff: 'holder',
  pauseSession: 'holder_or_hand',
  resumeSession: 'holder_or_hand',
  completeSession: 'holder_or_hand',
  failSession: 'holder_or_hand',
  initiateHandoff: 'holder_or_hand',
  openThread: 'holder_or_hand',
  setSessionMetadata: 'holder_or_hand',
  acceptHandoff: 'claim',
  renewClaim: 'claim',
  claimNext: 'claim',
  completeHandoff: 'claim',
  cancelHandoff: 'claim',
  failHandoff: 'claim',
  startSession: 'new_holder',
  takeOverSession: 'new_holder',
  // A runtime's statement about its window, and what is queued for an agent: hooks report it, and have no token.
  report: 'anyone',
  watch: 'anyone',
  send: 'anyone',
  captureSnapshot: 'anyone',
  recordLookBack: 'anyone',
  recordHooks: 'anyone',
  keepExtract: 'anyone',
  setHandoffMetadata: 'anyone',
  openConversation: 'anyone',
  closeConversation: 'anyone',
  reopenConversation: 'anyone',
  setConversationMetadata: 'anyone',
  setBudget: 'anyone',
  askConversation: 'anyone',
}

const MAKES_A_TOKEN: readonly CommandName[] = ['startSession', 'takeOverSession', 'completeHandoff', 'openThread']

/** These answer with the token that they were given. */
const GIVES_BACK: readonly CommandName[] = ['recordTurn', 'recordTurns']

/** Without a token these are on record as done by hand. */
const TOLD_BY_HAND: readonly CommandName[] = ['takeOverSession', 'cancelHandoff', 'failHandoff']

const NAMES = Object.keys(READY) as readonly CommandName[]

type Fields = Readonly<Record<string, { readonly check: object } | undefined>>

/** The demand of a definition. A command that is defined otherwise than the table says turns this red. */
const demandOf = (name: CommandName): 'token' | 'token_or_hand' | 'no_token' => {
  const { holder, byHand } = COMMANDS[name].fields as Fields
  if (byHand !== undefined) return 'token_or_hand'
  return holder === undefined || 'isOptional' in holder.check ? 'no_token' : 'token'
}

const demandedBy = (fence: Fence): ReturnType<typeof demandOf> =>
  fence === 'holder' ? 'token' : fence === 'holder_or_hand' ? 'token_or_hand' : 'no_token'

const takesToken = (name: CommandName): boolean => 'holder' in COMMANDS[name].fields

/** All that is on record of a conversation. */
const onRecord = async ({ store }: Scene, { source }: Ready) => ({
  chain: await store.audit.readChain(source.session.conversationId, { limit: 1_000 }),
  session: await store.sessions.find(source.session.id),
  turns: await store.messages.listTurns(source.session.id, {}),
})

/** The refusal of a caller that shows no token and says nothing of acting by hand. */
const unproven = (fence: Fence, { source }: Ready): Refusal | undefined => {
  if (fence === 'holder') return { code: 'input.invalid', fields: [{ field: 'holder', problem: 'it is missing' }] }
  return fence === 'holder_or_hand' ? { code: 'session.no_token', sessionId: source.session.id } : undefined
}

/** No token, the token of another session, and one that nobody has: nothing is on record of any of them. */
const refusesOthers = async (scene: Scene, name: CommandName, ready: Ready) => {
  const before = await onRecord(scene, ready)
  const refused = unproven(FENCES[name], ready)
  if (refused !== undefined) assert.deepEqual(refusal(await ask(scene, name, ready.request)), refused)
  if (takesToken(name)) {
    const other = (await scene.session()).holder
    for (const holder of [other, holderToken(scene.ids.next())])
      assert.equal(refusal(await ask(scene, name, { ...ready.request, holder })).code, 'session.superseded')
  }
  if (FENCES[name] === 'holder_or_hand') {
    const both = { ...ready.request, holder: ready.source.holder, byHand: true }
    const reason = refusal(await ask(scene, name, both))
    assert.equal(reason.code === 'input.invalid' && reason.fields[0]?.field, 'byHand')
  }
  assert.deepEqual(await onRecord(scene, ready), before)
  return before
}

const oneCommand = (name: CommandName) => async (scene: Scene) => {
  const fence = FENCES[name]
  assert.equal(demandOf(name), demandedBy(fence))
  const ready = await READY[name](scene)
  const before = await refusesOthers(scene, name, ready)
  const isProven = fence === 'holder' || fence === 'holder_or_hand'
  const right = isProven ? { ...ready.request, holder: ready.source.holder } : ready.request
  const answer = unwrap(await ask(scene, name, right)) as { readonly holder?: unknown }
  assert.equal('holder' in answer, MAKES_A_TOKEN.includes(name) || GIVES_BACK.includes(name))
  if (GIVES_BACK.includes(name)) assert.equal(answer.holder, ready.source.holder)
  const after = await onRecord(scene, ready)
  // A command that anybody may ask without proof changes no session.
  if (fence === 'anyone') assert.deepEqual(after.session, before.session)
  await assertByHand(scene, ready, before.chain.entries.length, TOLD_BY_HAND.includes(name))
}

/** Every entry since then is on record as done by hand, or none is. */
const assertByHand = async ({ store }: Scene, { source }: Ready, since: number, isByHand: boolean) => {
  const { items } = await store.audit.list(source.session.conversationId, { limit: 1_000 })
  for (const { event } of items.slice(since)) assert.equal(event.byHand, isByHand ? true : undefined)
}

/** The same command of somebody from outside, who says so. */
const byHand = (name: CommandName) => async (scene: Scene) => {
  const ready = await READY[name](scene)
  const before = await onRecord(scene, ready)
  unwrap(await ask(scene, name, { ...ready.request, byHand: true }))
  const after = await onRecord(scene, ready)
  assert.ok(after.chain.entries.length > before.chain.entries.length)
  await assertByHand(scene, ready, before.chain.entries.length, true)
}

/** A process that was overtaken shows its own token, with its old copy, with the newest one, and with none. */
const overtaken = (name: CommandName) => async (scene: Scene) => {
  const ready = await READY[name](scene)
  const { session: old, holder } = ready.source
  const taken = unwrap(await scene.service.takeOverSession({ session: old.id }))
  const before = await onRecord(scene, ready)
  const held = 'session' in ready.request ? [{ session: old }, { session: taken.session }, {}] : [{}]
  for (const copy of held)
    assert.equal(refusal(await ask(scene, name, { ...ready.request, ...copy, holder })).code, 'session.superseded')
  assert.deepEqual(await onRecord(scene, ready), before)
  unwrap(await ask(scene, name, { ...ready.request, holder: taken.holder }))
}

const casesOf = (
  about: string,
  names: readonly CommandName[],
  play: (name: CommandName) => (scene: Scene) => unknown,
) =>
  Object.fromEntries(names.map((name) => [`${name}: ${about}`, async (scene: Scene) => void (await play(name)(scene))]))

export const fencesContract: ContractPart = {
  about: 'only its holder works a session',
  cases: {
    ...casesOf('no token, an unknown one, another session’s, the right one', NAMES, oneCommand),
    ...casesOf('an old token, with an old copy and with the newest', NAMES.filter(takesToken), overtaken),
    ...casesOf(
      'by hand, which is on record',
      NAMES.filter((name) => FENCES[name] === 'holder_or_hand'),
      byHand,
    ),
    'leaves the living process alone when a zombie hands off what it last worked on': async (scene) => {
      const worked = await scene.worked('read_file')
      const taken = unwrap(await scene.service.takeOverSession({ session: worked.session.id }))
      const to = { targetAgent: scene.name('opus'), reason: 'Full' }
      const late = await scene.service.initiateHandoff({ ...worked, ...to })
      assert.equal(refusal(late).code, 'session.superseded')
      assert.equal(
        (await scene.store.handoffs.list({ conversationId: taken.session.conversationId }, {})).items.length,
        0,
      )
      const onward = unwrap(await scene.service.recordTurn({ ...taken, ...scene.turn('run_tests') }))
      unwrap(await scene.service.initiateHandoff({ ...onward, ...to }))
    },
    'takes nothing more from a superseded holder, with or without a token': async (scene) => {
      const source = await scene.worked('read_file')
      const taken = unwrap(await scene.service.takeOverSession({ session: source.session.id }))
      const turn = scene.turn('run_tests')
      const without = await ask(scene, 'recordTurn', { session: source.session.id, ...turn })
      assert.equal(refusal(without).code, 'input.invalid')
      assert.equal(refusal(await scene.service.recordTurn({ ...source, ...turn })).code, 'session.superseded')
      assert.equal(await scene.store.leases.renew(source.session.id, source.holder, 60_000), false)
      const turns = await scene.store.messages.listTurns(source.session.id, {})
      assert.equal(turns.items.length, 1)
      assert.equal(unwrap(await scene.service.recordTurn({ ...taken, ...turn })).session.progress.turns, 2)
    },
    'answers a repeated turn with the token it was given, also when the session has another holder by now': async (
      scene,
    ) => {
      const started = await scene.session()
      const request = { ...started, ...scene.turn('read_file'), commandId: commandId(scene.ids.next()) }
      const first = unwrap(await scene.service.recordTurn(request))
      unwrap(await scene.service.takeOverSession({ session: started.session.id }))
      const again = unwrap(await scene.service.recordTurn(request))
      assert.deepEqual(again, first)
      assert.equal(again.holder, started.holder)
      const late = await scene.service.pauseSession({ ...again })
      assert.equal(refusal(late).code, 'session.superseded')
    },
    'resumes for a caller that asks with a lease, and gives the token to that caller only': async (scene) => {
      const source = await scene.worked('read_file')
      unwrap(await scene.service.pauseSession({ session: source.session.id, byHand: true }))
      const plain = unwrap(await scene.service.resumeSession({ session: source.session.id, byHand: true }))
      assert.equal('holder' in plain, false)
      unwrap(await scene.service.pauseSession({ session: source.session.id, byHand: true }))
      const leased = unwrap(
        await scene.service.resumeSession({ session: source.session.id, byHand: true, leaseMs: 60_000 }),
      )
      assert.ok(leased.holder)
      assert.equal(await scene.store.leases.renew(source.session.id, leased.holder, 60_000), true)
    },
  },
}

export const holderTokensContract: ContractPart = {
  about: 'the token of a holder stays with the call that made it',
  cases: {
    'gives its token to the call whose reply was lost, and to no process that asks later': async (scene) => {
      const injector = new FaultInjector(scene.store)
      const [service, later] = [scene.serviceOver(injector.store), scene.serviceOver(scene.store)]
      const { id: conversationId } = await scene.conversation()
      const agent = { conversationId, agentName: scene.name('one'), backend: 'scripted' }
      const start = { ...agent, commandId: commandId(scene.ids.next()) }
      injector.plan('reply_lost')
      await assert.rejects(service.startSession(start), { code: 'store.unavailable', retryable: true })
      const started = mustHold(unwrap(await service.startSession(start)))
      const { session } = started
      const turned = await scene.work(started, 'read_file')
      const { holder: _, ...answered } = started
      assert.deepEqual(unwrap(await later.startSession(start)), { ...answered, next: 'take_over' })
      assert.equal(refusal(await later.startSession({ ...start, model: 'other' })).code, 'command.id_reused')
      const take = { session: session.id, commandId: commandId(scene.ids.next()) }
      injector.plan('sent_twice')
      const taken = mustHold(unwrap(await service.takeOverSession(take)))
      assert.equal(await scene.store.sessions.isHeldBy(session.id, taken.holder), true)
      assert.equal(await scene.store.sessions.isHeldBy(session.id, started.holder), false)
      const again = unwrap(await later.takeOverSession(take))
      assert.deepEqual([again.holder, again.next], [undefined, 'take_over'])
      const to = { ...turned, ...taken, targetAgent: scene.name('opus') }
      const { handoff } = unwrap(await service.initiateHandoff(to))
      const complete = { handoff: handoff.id, commandId: commandId(scene.ids.next()) }
      const completed = mustHold(unwrap(await service.completeHandoff(complete)))
      assert.equal(await scene.store.sessions.isHeldBy(completed.session.id, completed.holder), true)
      assert.equal(unwrap(await later.completeHandoff(complete)).next, 'take_over')
      // Told to take over, it does, and works: the earlier holder is superseded.
      const over = unwrap(await later.takeOverSession({ session: completed.session.id }))
      await scene.work(over, 'run_tests')
      assert.equal(
        refusal(await service.recordTurn({ ...completed, ...scene.turn('run_tests') })).code,
        'session.superseded',
      )
    },
    'keeps digests, and no token in anything that can be read': async (scene) => {
      const { id: conversationId } = await scene.conversation()
      const named = () => ({ commandId: commandId(scene.ids.next()) })
      const agent = { conversationId, agentName: scene.name('one'), backend: 'scripted', leaseMs: 60_000 }
      const started = mustHold(unwrap(await scene.service.startSession({ ...agent, ...named() })))
      const { session, holder } = started
      const turn = { ...started, ...scene.turn('read_file'), ...named() }
      unwrap(await scene.service.recordTurn(turn))
      const command = { id: commandId(scene.ids.next()), payload: '' }
      const { store } = scene
      const facts = await store.unitOfWork.load({ about: 'session', sessionId: session.id }, command)
      assert.equal(facts.repeated, undefined)
      assert.equal(facts.repeated === undefined && facts.facts.working?.holder, tokenDigest(holder))
      const again = await store.unitOfWork.load(
        { about: 'session', sessionId: session.id },
        { id: turn.commandId, payload: '' },
      )
      const chain = await store.audit.readChain(conversationId, { limit: 1_000 })
      const commands = await store.audit.findCommands(chain.entries.map((entry) => entry.commandId))
      const everything = [facts, again, chain, commands, await store.leases.find(session.id)]
      assert.equal(JSON.stringify(everything).includes(holder), false)
    },
    'takes nothing from a caller that has read the digest': async (scene) => {
      const { session, holder } = await scene.worked('read_file')
      const digest = tokenDigest(holder) as string as HolderToken
      const turned = await scene.service.recordTurn({ session, holder: digest, ...scene.turn('read_file') })
      assert.equal(refusal(turned).code, 'input.invalid')
      const shown = { session, holder: tokenDigest(holder), token: digest }
      const move = rawUnit(scene, [{ type: 'expect_session', session, expected: expecting(shown) }])
      assert.equal((await scene.store.unitOfWork.commit(move)).outcome, 'conflict')
      // Nor are words put into a session by a unit that shows no token at all.
      const { progress } = session
      const spoken = { ...progress, lastSequence: progress.nextSequence }
      const working = { session: { ...session, version: session.version + 1, progress: spoken } }
      const expected = expecting({ session, holder: tokenDigest(holder) })
      const unit = rawUnit(scene, [{ type: 'move_session', working, expected }])
      assert.equal((await scene.store.unitOfWork.commit(unit)).outcome, 'conflict')
      assert.equal(await scene.store.leases.renew(session.id, digest, 60_000), false)
      await assertIntact(scene, session.conversationId)
    },
    'changes a lease only with the session that the same unit begins or moves': async (scene) => {
      const { session, holder } = await scene.session(scene.name('one'), undefined, { leaseMs: 60_000 })
      const lease = { session, holder: tokenDigest(holder), leaseMs: 1 }
      for (const change of [{ type: 'drop_lease', session } as const, { type: 'set_lease', ...lease } as const])
        await assert.rejects(scene.store.unitOfWork.commit(rawUnit(scene, [change])), { code: 'store.integrity' })
      assert.equal(await scene.store.leases.renew(session.id, holder, 60_000), true)
    },
  },
}
