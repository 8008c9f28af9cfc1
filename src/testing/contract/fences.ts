import assert from 'node:assert/strict'
import { commandId, holderToken } from '../../domain/kernel/ids.ts'
import { unwrap } from '../../domain/unwrap.ts'
import { refusal } from '../refusal.ts'
import type { Scene } from '../scene.ts'
import type { ContractPart } from '../store-contract.ts'
import { ask, type CommandName, READY, type Ready } from './asked.ts'

/** Who may ask: only the holder; anyone, though a token that is shown must be right; or anyone at all. */
type Fence = 'holder' | 'anyone' | 'no_token'

const FENCES: { readonly [Name in CommandName]: Fence } = {
  openConversation: 'no_token',
  closeConversation: 'no_token',
  reopenConversation: 'no_token',
  setConversationMetadata: 'no_token',
  setBudget: 'no_token',
  askConversation: 'no_token',
  setSessionMetadata: 'no_token',
  setHandoffMetadata: 'no_token',
  recordLookBack: 'no_token',
  keepExtract: 'no_token',
  startSession: 'no_token',
  recordHooks: 'no_token',
  takeOverSession: 'no_token',
  recordTurn: 'holder',
  recordTurns: 'holder',
  attachSession: 'holder',
  accountSession: 'holder',
  restartSession: 'holder',
  extendTurn: 'holder',
  keepCheckpoint: 'holder',
  prepareHandoff: 'holder',
  pauseSession: 'anyone',
  resumeSession: 'anyone',
  completeSession: 'anyone',
  failSession: 'anyone',
  captureSnapshot: 'anyone',
  initiateHandoff: 'anyone',
  acceptHandoff: 'anyone',
  renewClaim: 'anyone',
  claimNext: 'anyone',
  completeHandoff: 'anyone',
  cancelHandoff: 'anyone',
  failHandoff: 'anyone',
  openThread: 'anyone',
  report: 'anyone',
  watch: 'anyone',
  send: 'anyone',
}

const MAKES_A_TOKEN: readonly CommandName[] = ['startSession', 'takeOverSession', 'completeHandoff', 'openThread']

/** Without a token these are on record as done by hand. */
const BY_HAND: readonly CommandName[] = [
  'pauseSession',
  'resumeSession',
  'completeSession',
  'failSession',
  'takeOverSession',
  'initiateHandoff',
  'cancelHandoff',
  'failHandoff',
]

const NAMES = Object.keys(READY) as readonly CommandName[]

/** All that is on record of a conversation. */
const onRecord = async ({ store }: Scene, { source }: Ready) => ({
  chain: await store.audit.readChain(source.session.conversationId, { limit: 1_000 }),
  session: await store.sessions.find(source.session.id),
  turns: await store.messages.listTurns(source.session.id, {}),
})

const oneCommand = (name: CommandName) => async (scene: Scene) => {
  const fence = FENCES[name]
  const ready = await READY[name](scene)
  const before = await onRecord(scene, ready)
  if (fence === 'holder') {
    const refused = refusal(await ask(scene, name, ready.request))
    assert.deepEqual(refused, { code: 'input.invalid', fields: [{ field: 'holder', problem: 'it is missing' }] })
  }
  if (fence !== 'no_token') {
    const other = (await scene.session()).holder
    for (const holder of [other, holderToken(scene.ids.next())])
      assert.equal(refusal(await ask(scene, name, { ...ready.request, holder })).code, 'session.superseded')
    assert.deepEqual(await onRecord(scene, ready), before)
  }
  const right = fence === 'holder' ? { ...ready.request, holder: ready.source.holder } : ready.request
  const answer = unwrap(await ask(scene, name, right))
  assert.equal('holder' in answer, MAKES_A_TOKEN.includes(name))
  const after = await scene.store.audit.list(ready.source.session.conversationId, { limit: 1_000 })
  const events = after.items.slice(before.chain.entries.length).map(({ event }) => event)
  for (const event of events) assert.equal(event.byHand, BY_HAND.includes(name) ? true : undefined)
}

export const fencesContract: ContractPart = {
  about: 'only its holder works a session',
  cases: {
    ...Object.fromEntries(NAMES.map((name) => [`${name}: no token, an old one, another session's`, oneCommand(name)])),
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
    'gives a token again to the command that made it, until it is superseded': async (scene) => {
      const conversation = await scene.conversation()
      const agent = { conversationId: conversation.id, agentName: scene.name('one'), backend: 'scripted' }
      const start = { ...agent, commandId: commandId(scene.ids.next()) }
      const started = unwrap(await scene.service.startSession(start))
      assert.deepEqual(unwrap(await scene.service.startSession(start)), started)
      const take = { session: started.session.id, commandId: commandId(scene.ids.next()) }
      const taken = unwrap(await scene.service.takeOverSession(take))
      assert.deepEqual(unwrap(await scene.service.takeOverSession(take)), taken)
      assert.equal(refusal(await scene.service.startSession(start)).code, 'session.superseded')
      unwrap(await scene.service.takeOverSession({ session: started.session.id }))
      assert.equal(refusal(await scene.service.takeOverSession(take)).code, 'session.superseded')
    },
    'answers a repeated turn without a token, also when the session has another holder by now': async (scene) => {
      const started = await scene.session()
      const request = { ...started, ...scene.turn('read_file'), commandId: commandId(scene.ids.next()) }
      const first = unwrap(await scene.service.recordTurn(request))
      unwrap(await scene.service.takeOverSession({ session: started.session.id }))
      const again = unwrap(await scene.service.recordTurn(request))
      assert.deepEqual(again, first)
      assert.equal('holder' in again, false)
    },
    'resumes for a caller that asks with a lease, and gives the token to that caller only': async (scene) => {
      const source = await scene.worked('read_file')
      unwrap(await scene.service.pauseSession({ session: source.session.id }))
      const plain = unwrap(await scene.service.resumeSession({ session: source.session.id }))
      assert.equal('holder' in plain, false)
      unwrap(await scene.service.pauseSession({ session: source.session.id }))
      const leased = unwrap(await scene.service.resumeSession({ session: source.session.id, leaseMs: 60_000 }))
      assert.ok(leased.holder)
      assert.equal(await scene.store.leases.renew(source.session.id, leased.holder, 60_000), true)
    },
  },
}
