import { readdirSync, readFileSync } from 'node:fs'
import { beforeAll, describe, expect, it } from 'vitest'
import { unitColumns } from '../../src/adapters/postgres/rows/unit-rows.ts'
import { expectingHandoff } from '../../src/domain/decision.ts'
import { rawUnit } from '../../src/testing/contract/raw-unit.ts'
import { Scene } from '../../src/testing/scene.ts'
import { withUnitOfWork } from '../faulty-stores/wrap.ts'
import { openStore } from '../support/stores.ts'
import { wholeConversation } from '../support/whole-conversation.ts'

const SQL = readdirSync('migrations/functions')
  .map((file) => readFileSync(`migrations/functions/${file}`, 'utf8'))
  .join('\n')

const words = (list: string): readonly string[] => list.split(',').map((name) => name.trim())

/** Every statement that adds rows of a unit: its table, its columns, and the columns it takes them from. */
const INSERTS = [
  ...SQL.matchAll(
    /insert into batonpass\.(\w+) \(([^)]*)\)\s+select\s+([\w\s,]*?)\s+from jsonb_populate_recordset\(null::batonpass\.\1,/g,
  ),
].map(([, table = '', columns = '', taken = '']) => ({ table, columns: words(columns), taken: words(taken) }))

/** Every statement that moves a row of a unit: its table, and the columns it sets. */
const UPDATES = [
  ...SQL.matchAll(/update batonpass\.(\w+) \w+ set\n([^;]*?)\n\s+where \w+\.conversation_id = next\./g),
].map(([, table = '', list = '']) => ({
  table,
  columns: [...list.matchAll(/(?:^|,)\s*(\w+) = /g)].map(([, name = '']) => name),
}))

/** The lists of a unit, and the table that each goes into. */
const ADDED = {
  conversations: 'conversations',
  sessions: 'agent_sessions',
  turns: 'turns',
  messages: 'messages',
  tool_calls: 'tool_calls',
  handoffs: 'handoffs',
  handoff_tool_calls: 'handoff_tool_calls',
  snapshots: 'context_snapshots',
  look_backs: 'look_backs',
  monitors: 'context_monitors',
  signals: 'context_signals',
} as const
const MOVED = {
  moved_sessions: { table: 'agent_sessions', found: ['conversation_id', 'id', 'expected'] },
  moved_handoffs: { table: 'handoffs', found: ['conversation_id', 'id', 'expected', 'tolerance_ms'] },
  moved_monitors: { table: 'context_monitors', found: ['conversation_id', 'session_id', 'expected'] },
} as const

/** The columns that the row mappers write, by list. */
const mapped = new Map<string, Set<string>>()

beforeAll(async () => {
  const { store: kept, passTime } = await openStore('memory')
  const take = (unit: Parameters<typeof unitColumns>[0]): void => {
    for (const [list, rows] of Object.entries(unitColumns(unit).rows) as [string, readonly object[]][]) {
      if (!Array.isArray(rows)) continue
      const names = mapped.get(list) ?? new Set()
      mapped.set(list, names)
      for (const name of rows.flatMap((row) => Object.keys(row))) names.add(name)
    }
  }
  const store = withUnitOfWork(kept, {
    commit: (unit) => {
      take(unit)
      return kept.unitOfWork.commit(unit)
    },
  })
  const scene = new Scene({ store, passTime })
  await wholeConversation(scene)
  // A checkpoint is kept while a handoff is initiated.
  const { handoff } = await scene.initiated()
  take(rawUnit(scene, [{ type: 'move_handoff', handoff, expected: expectingHandoff(handoff) }]))
})

const sorted = (names: Iterable<string> | undefined): readonly string[] => [...(names ?? [])].toSorted()

describe('the statements of commit_unit', () => {
  it.each(Object.entries(ADDED))('add every column that the mapper of %s writes, and no other', (list, table) => {
    const statements = INSERTS.filter((insert) => insert.table === table)
    expect(statements.length).toBeGreaterThan(0)
    for (const { columns, taken } of statements) {
      expect(sorted(columns)).toEqual(sorted(mapped.get(list)))
      expect(taken).toEqual(columns)
    }
  })

  it.each(Object.entries(MOVED))(
    'set every column that the mapper of %s writes, and no other',
    (list, { table, found }) => {
      const statements = UPDATES.filter((update) => update.table === table)
      expect(statements).toHaveLength(1)
      const written = sorted(mapped.get(list)).filter((name) => !(found as readonly string[]).includes(name))
      expect(sorted(statements[0]?.columns)).toEqual(written)
    },
  )

  it('were all found here', () => {
    expect(new Set(INSERTS.map(({ table }) => table))).toEqual(new Set(Object.values(ADDED)))
    expect([...SQL.matchAll(/jsonb_populate_recordset\(/g)].length).toBe(INSERTS.length + 2)
    expect([...SQL.matchAll(/jsonb_populate_record\(/g)].length).toBe(UPDATES.length + 2)
  })
})
