import { describe, expect, it } from 'vitest'
import { type Found, reckon } from './check/reckoning.ts'
import type { LedgerLine } from './crew/ledger.ts'

const invoke = (id: string): LedgerLine => ({ is: 'invoke', id, move: 'recordTurn' })
const acknowledged = (id: string, ...names: readonly string[]): LedgerLine => ({
  is: 'ok',
  id,
  move: 'recordTurn',
  keeps: true,
  names,
})
const refused = (id: string): LedgerLine => ({ is: 'refused', id, move: 'recordTurn', code: 'session.held' })

const found = (ids: readonly string[], stored: readonly string[] = []): Found => ({
  receipts: new Map(ids.map((id) => [id, 1])),
  transactions: new Map(ids.map((id) => [id, 1])),
  ids: new Set(stored),
})

const told = (lines: readonly LedgerLine[], in_: Found) => {
  const { lost, doubled, neverInvoked, refusedAndFound, inDoubt, foundOnce } = reckon(lines, in_)
  return { lost, doubled, neverInvoked, refusedAndFound, inDoubt, foundOnce }
}

const NOTHING = { lost: [], doubled: [], neverInvoked: [], refusedAndFound: [], inDoubt: 0, foundOnce: 0 }

describe('a reckoning', () => {
  it('finds nothing wrong with what was asked, answered and kept once', () => {
    expect(told([invoke('a'), acknowledged('a', 'turn')], found(['a'], ['turn']))).toEqual({ ...NOTHING, foundOnce: 1 })
  })

  it('misses what was acknowledged and is not there', () => {
    expect(told([invoke('a'), acknowledged('a')], found([]))).toEqual({ ...NOTHING, lost: ['recordTurn a'] })
  })

  it('misses what an answer spoke of and is not there', () => {
    expect(told([invoke('a'), acknowledged('a', 'turn')], found(['a'])).lost).toEqual(['recordTurn a'])
  })

  it('leaves open whether a command without an answer is there', () => {
    expect(told([invoke('a'), invoke('b')], found(['a']))).toEqual({ ...NOTHING, inDoubt: 2 })
  })

  it('sees what was done in two transactions', () => {
    const twice = { ...found(['a']), transactions: new Map([['a', 2]]) }
    expect(told([invoke('a'), acknowledged('a')], twice)).toEqual({ ...NOTHING, doubled: ['recordTurn a'] })
  })

  it('sees what nobody asked for', () => {
    expect(told([invoke('a'), acknowledged('a')], found(['a', 'b'])).neverInvoked).toEqual(['b'])
  })

  it('sees a refused command that was stored nevertheless', () => {
    expect(told([invoke('a'), refused('a')], found(['a'])).refusedAndFound).toEqual(['recordTurn a'])
  })

  it('asks nothing of a command that keeps nothing', () => {
    const nothing: LedgerLine = { is: 'ok', id: 'a', move: 'claimNext', keeps: false, names: [] }
    expect(told([invoke('a'), nothing], found([]))).toEqual(NOTHING)
  })
})
