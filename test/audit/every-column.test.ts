import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { ConversationId } from '../../src/entry/index.ts'
import {
  ANOTHER_ID,
  COLUMNS,
  type Column,
  conversationColumn,
  NOT_COVERED_COLUMNS,
  tamperedValues,
  whyNotCovered,
} from '../support/audited-columns.ts'
import { closeStores } from '../support/stores.ts'
import { wholeConversation } from '../support/whole-conversation.ts'
import { Stage } from './stage.ts'

let stage: Stage
let columns: readonly Column[]

beforeAll(async () => {
  stage = await Stage.on('postgres')
  columns = await stage.rows<Column>(COLUMNS, 'batonpass')
})
afterAll(closeStores)

/** Keeps the rows of a conversation aside, so that what was tampered with can be put back. */
const keepAside = (tables: readonly string[], id: ConversationId): Promise<unknown> =>
  stage.tamper(
    ['create schema aside'],
    ...tables.map((table): [string] => [
      `create table aside.${table} as select * from batonpass.${table} where ${conversationColumn(table)} = '${id}'`,
    ]),
  )

const putBack = (table: string, id: ConversationId): Promise<unknown> =>
  stage.tamper(
    [`delete from batonpass.${table} where ${conversationColumn(table)} in ('${id}', '${ANOTHER_ID}')`],
    [`insert into batonpass.${table} select * from aside.${table}`],
  )

/** A command that logged nothing is sealed by no entry; the verdict says so. */
const sealedFirst = (table: string): string =>
  table === 'commands'
    ? 'not exists (select from batonpass.audit_entries e where e.command_id = batonpass.commands.id),'
    : ''

/** Gives a column of one row another value. A constraint may refuse that, and some have that value already. */
const tamper = async ({ table, name }: Column, value: string, id: ConversationId) => {
  const [row] = await stage.rows<{ ctid: string }>(
    `select ctid::text from batonpass.${table} where ${conversationColumn(table)} = '${id}'
     order by ${sealedFirst(table)} ${name} is null, ctid limit 1`,
  )
  if (row === undefined) throw new Error(`The whole conversation has no row in ${table}`)
  const isOther = `${name} is distinct from ${value}`
  const change = `update batonpass.${table} set ${name} = ${value} where ctid = '${row.ctid}' and ${isOther}`
  try {
    return (await stage.tamper([change])) === 0 ? 'unchanged' : 'changed'
  } catch {
    return 'refused'
  }
}

describe('every column of every table', () => {
  it('is tampered with, and found unless a written reason says why not', { timeout: 300_000 }, async () => {
    const covered = columns.filter((column) => whyNotCovered(column) === undefined)
    const { id } = await wholeConversation(stage.scene)
    await keepAside([...new Set(covered.map(({ table }) => table))], id)
    const missed: string[] = []
    const tried = { changed: 0, unchanged: 0, refused: 0 }
    for (const column of covered) {
      for (const value of tamperedValues(column)) {
        const outcome = await tamper(column, value, id)
        tried[outcome] += 1
        const isFound = !(await stage.found(id)).startsWith('intact')
        if (isFound !== (outcome === 'changed')) missed.push(`${column.table}.${column.name} = ${value}: ${outcome}`)
        await putBack(column.table, id)
      }
    }
    expect(missed).toEqual([])
    expect(tried.changed).toBeGreaterThan(100)
    expect(await stage.found(id)).toMatch(/^intact/)
  })

  it('is on the list of what is not covered only if there is such a column or table', () => {
    const names = new Set(columns.flatMap(({ table, name }) => [table, `${table}.${name}`]))
    expect(Object.keys(NOT_COVERED_COLUMNS).filter((name) => !names.has(name))).toEqual([])
  })
})
