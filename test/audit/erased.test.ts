import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type ConversationId, commandId, unwrap } from '../../src/entry/index.ts'
import type { TextName } from '../../src/entry/ports.ts'
import { closeStores } from '../support/stores.ts'
import { Stage } from './stage.ts'

let stage: Stage
beforeAll(async () => {
  stage = await Stage.on('postgres')
})
afterAll(closeStores)

const SALTS = 'batonpass.audit_salts'

/** Writes on record that texts were erased, as the command that erases them will. */
const onRecord = (conversationId: ConversationId, texts: readonly TextName[]) =>
  stage.store.unitOfWork.commit({
    command: { id: commandId(stage.scene.ids.next()), payload: '"erase"' },
    changes: [],
    events: [
      {
        type: 'text.erased',
        version: 1,
        conversationId,
        at: stage.scene.clock.now(),
        texts,
        by: 'privacy-office',
        why: 'request 4711',
      },
    ],
    isRemembered: true,
  })

const messagesOf = async (id: ConversationId): Promise<readonly TextName[]> =>
  (await stage.store.messages.listMessages(id, {})).items
    .slice(0, 2)
    .map((message) => ({ row: 'message', id: message.id, field: 'text' }))

const blanked = (id: ConversationId, text = '[erased]') =>
  stage.tamper(
    [`update batonpass.messages set text = $2 where conversation_id = $1 and sequence_number <= 2`, id, text],
    [`delete from ${SALTS} where conversation_id = $1 and position = 4`, id],
  )

const verdictOn = async (id: ConversationId) => unwrap(await stage.audit.verify(id))

describe('texts without their salts', () => {
  it('cannot be rewritten: they are counted, named, and no log with them is intact', async () => {
    const id = await stage.conversation()
    const { texts: before } = await verdictOn(id)
    await stage.tamper([`delete from ${SALTS} where conversation_id = $1`, id])
    await stage.tamper([`update batonpass.messages set text = 'Forged' where conversation_id = $1`, id])
    const verdict = await verdictOn(id)
    expect(verdict).toMatchObject({
      intact: false,
      problem: { class: 'text_unchecked', position: 4, detail: expect.stringContaining('6 texts cannot be checked') },
      texts: { compared: 0, erased: 0, unchecked: before.compared },
    })
    expect(verdict.texts.firstUnchecked[0]).toMatchObject({ row: 'message', field: 'text' })
  })

  it('are no better off for a text that says they were erased', async () => {
    const id = await stage.conversation()
    await blanked(id)
    expect(await stage.found(id)).toBe('text_unchecked 4')
  })

  it('are as they should be when the log says who erased them and why', async () => {
    const id = await stage.conversation()
    const names = await messagesOf(id)
    await blanked(id)
    await onRecord(id, names)
    expect(await verdictOn(id)).toMatchObject({ intact: true, entries: 13, texts: { erased: 2, unchecked: 0 } })
  })

  it('are excused by name, and no other with them', async () => {
    const id = await stage.conversation()
    const [first] = await messagesOf(id)
    await blanked(id)
    await onRecord(id, first === undefined ? [] : [first])
    expect(await verdictOn(id)).toMatchObject({
      problem: { class: 'text_unchecked', detail: expect.stringContaining('1 text cannot') },
      texts: { erased: 1, unchecked: 1 },
    })
  })

  it('cannot be given another text under cover of an erasure', async () => {
    const id = await stage.conversation()
    const names = await messagesOf(id)
    await blanked(id, 'Something I never said')
    await onRecord(id, names)
    expect(await stage.found(id)).toBe('text_differs 13')
  })

  it.each([
    ['handoffs', 'reason', 'handoff', 'reason'],
    ['handoffs', 'document', 'handoff', 'document'],
  ] as const)('may be those of %s.%s', async (table, column, row, field) => {
    const id = await stage.conversation()
    const [found] = await stage.rows<{ id: string }>(`select id from batonpass.${table} where conversation_id = $1`, id)
    const names: TextName[] = ['reason', 'document'].map((name) => ({ row, id: found?.id ?? '', field: name }))
    await stage.tamper(
      [`update batonpass.${table} set reason = '[erased]', document = '[erased]' where conversation_id = $1`, id],
      [`delete from ${SALTS} where conversation_id = $1 and position = 5`, id],
    )
    expect(await stage.found(id)).toBe('text_unchecked 12')
    await onRecord(id, names)
    expect(await stage.found(id)).toBe('intact 13')
    await stage.tamper([`update batonpass.${table} set ${column} = 'Else' where conversation_id = $1`, id])
    expect([await stage.found(id), field]).toEqual(['text_differs 12', column])
  })

  it('may be the task of the conversation', async () => {
    const id = await stage.conversation()
    await stage.tamper(
      [`update batonpass.conversations set original_task = '[erased]' where id = $1`, id],
      [`delete from ${SALTS} where conversation_id = $1 and position = 1`, id],
    )
    await onRecord(id, [{ row: 'conversation', id, field: 'originalTask' }])
    expect(await stage.found(id)).toBe('intact 13')
  })
})

describe('a salt', () => {
  // The schema refuses such a salt; whoever owns the database can take that rule away.
  beforeAll(() => stage.tamper([`alter table ${SALTS} drop constraint if exists audit_salts_is_salt`]))

  it('that carries a digest of its own wins nothing', async () => {
    const id = await stage.conversation()
    await stage.tamper(
      [`update batonpass.conversations set original_task = 'Forged' where id = $1`, id],
      [
        `update ${SALTS} set salt = 's sha256:' || encode(sha256(convert_to('s' || chr(10) || '"Forged"', 'UTF8')), 'hex')
         where conversation_id = $1 and position = 1`,
        id,
      ],
    )
    expect(await stage.found(id)).toBe('text_differs 1')
  })

  it('is not a salt with something behind it', async () => {
    const id = await stage.conversation()
    await stage.tamper([`update ${SALTS} set salt = salt || ' x' where conversation_id = $1 and position = 4`, id])
    expect(await stage.found(id)).toBe('text_differs 4')
  })

  it.each(['', 's', 'x'.repeat(36), '00000000-0000-0000-0000-000000000000 x'])('is not %j', async (salt) => {
    const id = await stage.conversation()
    await stage.tamper([`update ${SALTS} set salt = $2 where conversation_id = $1 and position = 4`, id, salt])
    expect(await stage.found(id)).toBe('text_differs 4')
  })
})
