import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { canonicalJson } from '../../src/domain/kernel/canonical-json.ts'

const reversed = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(reversed)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .reverse()
      .map(([name, part]) => [name, reversed(part)]),
  )
}

describe('canonical JSON', () => {
  it('puts keys in order at any depth and leaves lists as they are', () => {
    expect(canonicalJson({ b: [{ d: 1, c: 2 }, 3], a: null })).toBe('{"a":null,"b":[{"c":2,"d":1},3]}')
  })

  it('holds absent and undefined alike', () => {
    expect(canonicalJson({ a: undefined, b: 1 })).toBe(canonicalJson({ b: 1 }))
    expect(canonicalJson(undefined)).toBe('null')
  })

  it('does not depend on the order things were said in, and says all of them', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(canonicalJson(reversed(value))).toBe(canonicalJson(value))
        expect(JSON.parse(canonicalJson(value))).toEqual(JSON.parse(JSON.stringify(value)))
      }),
    )
  })

  it('tells different things apart', () => {
    const texts = [{ a: 1 }, { a: '1' }, { a: [1] }, { a: { a: 1 } }, { b: 1 }, {}, [], null].map((value) =>
      canonicalJson(value),
    )
    expect(new Set(texts).size).toBe(texts.length)
  })
})
