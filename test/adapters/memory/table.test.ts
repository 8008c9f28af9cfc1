import { describe, expect, it } from 'vitest'
import { frozenCopy } from '../../../src/adapters/memory/frozen-copy.ts'
import { numberKey, pageBy } from '../../../src/adapters/memory/paging.ts'
import { PlaceTaken, Table } from '../../../src/adapters/memory/table.ts'
import { RefusedError } from '../../../src/domain/unwrap.ts'

interface Row {
  readonly id: string
  readonly seat?: string
  readonly team: string
}

const seated = () =>
  new Table<Row, 'seat', 'team'>({
    id: ({ id }) => id,
    unique: { seat: ({ seat }) => seat },
    groups: { team: ({ team }) => team },
  })

describe('a table in memory', () => {
  it('finds a row by id, by its place and by its group, in the order they came', () => {
    const table = seated()
    table.insert({ id: 'a', seat: '1', team: 'red' })
    table.insert({ id: 'b', team: 'red' })
    expect(table.get('a')?.seat).toBe('1')
    expect(table.at('seat', '1')?.id).toBe('a')
    expect(table.in('team', 'red').map(({ id }) => id)).toEqual(['a', 'b'])
    expect([table.count('team', 'red'), table.count('team', 'blue')]).toEqual([2, 0])
    expect(table.get('c') ?? table.at('seat', '2') ?? table.in('team', 'blue')[0]).toBeUndefined()
  })

  it('gives a place to one row only, and takes back nothing else when it refuses', () => {
    const table = seated()
    table.insert({ id: 'a', seat: '1', team: 'red' })
    expect(() => table.insert({ id: 'b', seat: '1', team: 'blue' })).toThrow(PlaceTaken)
    expect(() => table.insert({ id: 'a', team: 'blue' })).toThrow(PlaceTaken)
    expect(table.get('b')).toBeUndefined()
    expect(table.in('team', 'blue')).toEqual([])
    table.replace({ id: 'a', team: 'red' })
    table.insert({ id: 'b', seat: '1', team: 'blue' })
    expect(table.at('seat', '1')?.id).toBe('b')
  })

  it('undone, is as it was before', () => {
    const table = seated()
    table.insert({ id: 'a', seat: '1', team: 'red' })
    const undoMove = table.replace({ id: 'a', seat: '2', team: 'blue' })
    const undoInsert = table.insert({ id: 'b', seat: '1', team: 'red' })
    undoInsert()
    undoMove()
    expect(table.get('b')).toBeUndefined()
    expect(table.get('a')).toEqual({ id: 'a', seat: '1', team: 'red' })
    expect([table.at('seat', '1')?.id, table.at('seat', '2')]).toEqual(['a', undefined])
    expect([table.in('team', 'red').length, table.in('team', 'blue').length]).toEqual([1, 0])
  })
})

describe('pages', () => {
  const rows = [3, 1, 11, 2, 10]
  const key = numberKey

  it('go on where the last one ended, in the order of the key, and the last has no next', () => {
    const first = pageBy(rows, key, { limit: 2 })
    const second = pageBy(rows, key, { limit: 2, after: first.next ?? '' })
    const third = pageBy(rows, key, { limit: 2, after: second.next ?? '' })
    expect([first.items, second.items, third.items]).toEqual([[1, 2], [3, 10], [11]])
    expect(Object.keys(third)).toEqual(['items'])
    expect(pageBy(rows, key, { limit: 5 })).toStrictEqual({ items: [1, 2, 3, 10, 11] })
  })

  it.each([0, -1, 1.5, 1_001, Number.NaN])('of %s items are refused', (limit) => {
    expect(() => pageBy(rows, key, { limit })).toThrow(RefusedError)
  })
})

it('a frozen copy is nobody’s to change', () => {
  const original = { list: [{ name: 'a' }] }
  const copy = frozenCopy(original)
  original.list.push({ name: 'b' })
  expect(copy).toEqual({ list: [{ name: 'a' }] })
  expect(() => copy.list.push({ name: 'c' })).toThrow(TypeError)
  expect(() => Object.assign(copy.list[0] ?? {}, { name: 'd' })).toThrow(TypeError)
})
