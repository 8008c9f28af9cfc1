import assert from 'node:assert/strict'
import { unwrap } from '../../domain/unwrap.ts'
import { COMMANDS } from '../../services/commands/command-list.ts'
import { refusal } from '../expected-refusal.ts'
import type { Scene } from '../scene.ts'
import type { ContractPart } from '../store-contract.ts'
import { ask, type CommandName, READY, type Ready } from './ready-commands.ts'
import { assertIntact, auditOf } from './trail.ts'

const NAMES = Object.keys(READY) as readonly CommandName[]

/** The manner of asking that is checked; everything else in it is passed back, and looked at only if we made it. */
const CHECKED_MANNER: readonly string[] = ['holder', 'byHand', 'commandId', 'wait', 'pollMs', 'signal']

/** The fields that take any text that is not blank. */
const TEXTS: readonly string[] = [
  ...['originalTask', 'externalKey', 'subject', 'agentName', 'backend', 'model', 'providerSessionId', 'prompt'],
  ...[
    'reason',
    'document',
    'extract',
    'targetAgent',
    'claimant',
    'by',
    'continuation',
    'text',
    'hookContext',
    'deadRunner',
  ],
]

/** Reads that take the id of something. */
const READS_BY_ID: readonly string[] = [
  ...['conversation', 'session', 'monitor', 'activeSession', 'sessions', 'handoff', 'openHandoff', 'handoffs'],
  ...['snapshots', 'latestSnapshot', 'turns', 'messages', 'windowAt', 'auditTrail', 'lineage', 'lookBack', 'lookBacks'],
]

/** All their parts may be left out, so that any object is one. */
const LOOSE: readonly string[] = ['metadata', 'monitor', 'workspace', 'window', 'child', 'settings', 'budget']

const LISTS: readonly string[] = ['toolCalls', 'flags', 'results']
const FLAGS: readonly string[] = ['wait', 'withholdRestart', 'failLater', 'ifAbandoned']
const NUMBERS: readonly string[] = ['claimMs', 'leaseMs', 'pollMs', 'found']

const hostile = (): readonly unknown[] => [
  null,
  5,
  -1.5,
  Number.NaN,
  '',
  ' \u00a0\u2003',
  'zzz',
  true,
  [],
  [1],
  {},
  { id: 'zzz' },
  Symbol('s'),
  5n,
  () => 'text',
  new Date(0),
  Object.defineProperty({}, 'id', {
    get: () => {
      throw new Error('a getter that throws')
    },
    enumerable: true,
  }),
]

/** Whether a value of this kind is right in this place. */
const isAllowed = (field: string, value: unknown): boolean =>
  (TEXTS.includes(field) && typeof value === 'string' && value.trim() !== '') ||
  (LOOSE.includes(field) && typeof value === 'object' && value !== null && !isWrongNote(field, value)) ||
  (LISTS.includes(field) && Array.isArray(value) && value.length === 0) ||
  (FLAGS.includes(field) && value === true) ||
  (NUMBERS.includes(field) && value === 5)

const isWrongNote = (field: string, value: object): boolean => {
  if (field !== 'metadata') return false
  const { id } = Object.getOwnPropertyDescriptors(value) as { id?: PropertyDescriptor }
  return Array.isArray(value) || id?.get !== undefined
}

const checkedFields = (name: CommandName): readonly string[] =>
  Object.entries<{ readonly isContent: boolean }>(COMMANDS[name].fields)
    .filter(([field, { isContent }]) => isContent || CHECKED_MANNER.includes(field))
    .map(([field]) => field)

/** Each field of a request with each wrong value. */
const wrongRequests = (name: CommandName, { request, source }: Ready) => {
  const right = { ...request, ...(fieldsOf(name).includes('holder') && { holder: source.holder }) }
  return checkedFields(name).flatMap((field) =>
    hostile()
      .filter((value) => !isAllowed(field, value))
      .map((value) => ({ field, value, changed: { ...right, [field]: value } })),
  )
}

const fieldsOf = (name: CommandName): readonly string[] => Object.keys(COMMANDS[name].fields)

const oneCommand = (name: CommandName) => async (scene: Scene) => {
  const ready = await READY[name](scene)
  const { conversationId } = ready.source.session
  const before = await scene.store.audit.readChain(conversationId, { limit: 1_000 })
  for (const request of [undefined, null, 5, 'text', []]) {
    const refused = refusal(await ask(scene, name, request))
    assert.equal(refused.code, 'input.invalid')
  }
  for (const { field, value, changed } of wrongRequests(name, ready)) {
    const answer = await ask(scene, name, changed)
    const what = `${name} with ${field}: ${typeof value === 'object' ? 'an object' : String(value)}`
    assert.equal(answer.ok, false, what)
    const refused = refusal(answer)
    assert.equal(refused.code, 'input.invalid', what)
    assert.ok(refused.code === 'input.invalid' && refused.fields[0]?.field.startsWith(field), what)
  }
  assert.deepEqual(await scene.store.audit.readChain(conversationId, { limit: 1_000 }), before)
  await assertIntact(scene, conversationId)
}

/** Every field that a request cannot do without. */
const withoutOne = (name: CommandName) => async (scene: Scene) => {
  const { request, source } = await READY[name](scene)
  const right = { ...request, ...(fieldsOf(name).includes('holder') && { holder: source.holder }) }
  const needed = Object.entries(COMMANDS[name].fields).filter(([, { check }]) => !('isOptional' in check))
  for (const [field] of needed) {
    const { [field]: _, ...lacking } = right as Record<string, unknown>
    const refused = refusal(await ask(scene, name, lacking))
    assert.deepEqual(refused, { code: 'input.invalid', fields: [{ field, problem: 'it is missing' }] })
  }
  unwrap(await ask(scene, name, right))
}

export const inputsContract: ContractPart = {
  about: 'wrong input is refused by field, and nothing is stored',
  cases: {
    ...Object.fromEntries(NAMES.map((name) => [`${name}: wrong values`, oneCommand(name)])),
    ...Object.fromEntries(NAMES.map((name) => [`${name}: what it cannot do without`, withoutOne(name)])),
    'takes no list, number or object for text, at any depth': async (scene) => {
      const source = await scene.worked('read_file')
      const turn = (text: unknown) => ({ ...source, messages: [{ role: 'user', text }] })
      for (const text of [5, ['x'], {}, null, undefined]) {
        const refused = refusal(await ask(scene, 'recordTurn', turn(text)))
        assert.equal(refused.code === 'input.invalid' && refused.fields[0]?.field, 'messages[0].text')
      }
      const to = { ...source, targetAgent: scene.name('opus') }
      const more = { document: {}, reason: ['x'], traceContext: { traceparent: 5 } }
      const refused = refusal(await ask(scene, 'initiateHandoff', { ...to, ...more }))
      assert.deepEqual(refused.code === 'input.invalid' && refused.fields.map(({ field }) => field), [
        'reason',
        'document',
        'traceContext.traceparent',
      ])
      await assertIntact(scene, source.session.conversationId)
    },
    'takes no turn of more than 16 MB, however it is spread': async (scene) => {
      const source = await scene.worked('read_file')
      const text = 'é'.repeat(1_000_000)
      const turn = (length: number) => ({ ...source, messages: Array.from({ length }, () => ({ role: 'user', text })) })
      const refused = refusal(await ask(scene, 'recordTurn', turn(9)))
      assert.deepEqual(refused.code === 'input.invalid' && refused.fields, [
        { field: 'messages', problem: 'the turn has 18000000 bytes, and 16777216 is the most' },
      ])
      const wrong = [{ length: 0, sha256: 'ab'.repeat(32) }, { length: 1 }, { length: 1, sha256: 'AB'.repeat(32) }, 'x']
      for (const cut of wrong)
        assert.equal(
          refusal(await ask(scene, 'recordTurn', { ...source, messages: [{ role: 'user', text: 'x', cut }] })).code,
          'input.invalid',
        )
      unwrap(await ask(scene, 'recordTurn', turn(8)))
      await assertIntact(scene, source.session.conversationId)
    },
    'takes no list, date or map for an object whose every field may be left out': async (scene) => {
      const source = await scene.worked('read_file')
      const { conversationId } = source.session
      for (const odd of [['x'], [], new Date(0), new Map(), Object('boxed')]) {
        const thread = { session: source.session.id, targetAgent: scene.name('opus'), child: odd }
        const child = refusal(await ask(scene, 'openThread', thread))
        assert.deepEqual(child, { code: 'input.invalid', fields: [{ field: 'child', problem: 'it is not an object' }] })
        const started = { originalTask: 'Fix it', workspace: odd }
        const opened = refusal(await ask(scene, 'openConversation', started))
        assert.equal(opened.code === 'input.invalid' && opened.fields[0]?.field, 'workspace')
      }
      await assertIntact(scene, conversationId)
    },
    'refuses a question that makes no sense, whatever it is about': async (scene) => {
      const methods = scene.history as unknown as Record<
        string,
        (...parameters: readonly unknown[]) => Promise<unknown>
      >
      const refuses = (name: string, ...parameters: readonly unknown[]) =>
        assert.rejects(
          async () => methods[name]?.(...parameters),
          { name: 'RefusedError', code: 'input.invalid' },
          name,
        )
      for (const name of READS_BY_ID) for (const wrong of ['zzz', 5, null, {}]) await refuses(name, wrong)
      const lists = ['listConversations', 'listSessions', 'listHandoffs']
      const pages = [{ limit: 0 }, { limit: 1.5 }, { limit: 'x' }, { after: 'zzz' }, { after: 5 }, 5]
      for (const name of lists) for (const page of pages) await refuses(name, {}, page)
      for (const name of lists) for (const filter of [5, { order: 'x' }, { metadata: [] }]) await refuses(name, filter)
      for (const subject of [{}, { conversationId: 'zzz' }, 5]) await refuses('lineageOf', subject)
      const audit = auditOf(scene)
      for (const page of pages) await assert.rejects(audit.changes(page as never), { name: 'RefusedError' })
      assert.equal(refusal(await audit.verify('zzz' as never)).code, 'input.invalid')
      const session = await scene.session()
      await assert.rejects(scene.context.acknowledge(session.session.id, ['zzz' as never]), { name: 'RefusedError' })
    },
    'says why a handoff was initiated when nobody did': async (scene) => {
      const source = await scene.worked('read_file')
      const { handoff } = unwrap(await scene.service.initiateHandoff({ ...source, targetAgent: scene.name('opus') }))
      assert.equal((await scene.store.handoffs.find(handoff.id))?.reason, 'Another agent takes over.')
    },
  },
}
