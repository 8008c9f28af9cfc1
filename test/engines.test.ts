import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'

/** The versions of Node we promise, each the oldest of its line that we ask for. */
const PROMISED = ['20.19.0', '22.12.0', '24.0.0'] as const

type Version = readonly [number, number, number]

const versionOf = (text: string): Version => {
  const [major = 0, minor = 0, patch = 0] = text.split('.').map(Number)
  return [major, minor, patch]
}

const isBelow = (one: Version, other: Version): boolean => {
  const at = one.findIndex((part, index) => part !== other[index])
  return at !== -1 && (one[at] ?? 0) < (other[at] ?? 0)
}

/** Reads the few forms that packages use: `>=20.1`, `^20.1.0`, `20`, `20 || 22`, `>=18 <25`, `*`. */
const allows = (range: string, node: string): boolean =>
  range.split('||').some((every) =>
    [...every.trim().matchAll(/(>=|<=|<|>|\^|~|)\s*v?(\d+(?:\.\d+)*|\*)/g)].every(([, sign, wanted = '*']) => {
      if (wanted === '*') return true
      const [is, asked] = [versionOf(node), versionOf(wanted)]
      if (sign === '>=') return !isBelow(is, asked)
      if (sign === '>') return isBelow(asked, is)
      if (sign === '<') return isBelow(is, asked)
      if (sign === '<=') return !isBelow(asked, is)
      return is[0] === asked[0] && !isBelow(is, asked)
    }),
  )

interface Lock {
  readonly packages: Readonly<Record<string, { readonly engines?: { readonly node?: string } }>>
}

const { packages } = JSON.parse(readFileSync('package-lock.json', 'utf8')) as Lock

/** Packages at whose installation npm would warn (EBADENGINE), and the Node they do not allow. */
const warnings = (all: Lock['packages']): readonly string[] =>
  Object.entries(all).flatMap(([path, { engines }]) =>
    PROMISED.filter((node) => engines?.node !== undefined && !allows(engines.node, node)).map(
      (node) => `${path} asks for Node ${engines?.node}, and we promise ${node}`,
    ),
  )

describe('installing on a Node that we promise', () => {
  it('warns of nothing: every package allows that Node too', () => {
    expect(packages['']?.engines?.node).toBe('>=20.19')
    expect(Object.keys(packages).length).toBeGreaterThan(100)
    expect(warnings(packages)).toEqual([])
  })

  it('is seen to warn where a package asks for a newer one', () => {
    expect(warnings({ kysely: { engines: { node: '>=22.0.0' } } })).toEqual([
      'kysely asks for Node >=22.0.0, and we promise 20.19.0',
    ])
    expect(warnings({ some: { engines: { node: '^20.20.0 || >=22.12.0' } } })).toHaveLength(1)
    expect(
      warnings({ some: { engines: { node: '20 || >=22' } }, other: { engines: { node: '>= 14.21 <23' } } }),
    ).toEqual(['other asks for Node >= 14.21 <23, and we promise 24.0.0'])
  })
})
