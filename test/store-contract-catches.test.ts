import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import type { Store } from '../src/entry/ports.ts'
import { type Harness, storeContract } from '../src/entry/testing.ts'
import { FAULTS } from './faulty-stores/faults.ts'
import { IS_FULL } from './support/amounts.ts'
import { openStore } from './support/stores.ts'

interface ContractCase {
  readonly name: string
  readonly run: () => Promise<void>
}

const TABLE = 'test/faulty-stores/caught-by.json'

/** The cases of the contract, on a store with this fault. */
const casesOn = (spoil: (store: Store) => Store): readonly ContractCase[] => {
  const cases: ContractCase[] = []
  const collect: Harness = { describe: (_, body) => body(), it: (name, run) => cases.push({ name, run }) }
  storeContract(async () => {
    const { store, passTime } = await openStore('memory')
    return { store: spoil(store), passTime }
  }, collect)
  return cases
}

/** The names of those of these cases that fail. */
const failuresOf = async (cases: readonly ContractCase[]): Promise<readonly string[]> => {
  const failed: string[] = []
  for (const { name, run } of cases) await run().catch(() => failed.push(name))
  return failed
}

const honest = (store: Store): Store => store
const named = new Set(FAULTS.map(([, , caseName]) => caseName))

describe('the store contract catches', () => {
  it.each(FAULTS)('%s', async (_, spoil, caseName) => {
    const [only, ...more] = casesOn(spoil).filter(({ name }) => name === caseName)
    expect(more).toEqual([])
    expect(await failuresOf(only === undefined ? [] : [only])).toEqual([caseName])
  })

  it('nothing in an honest store, by the cases that catch a fault', async () => {
    const cases = casesOn(honest).filter(({ name }) => named.has(name))
    expect(cases).toHaveLength(named.size)
    expect(await failuresOf(cases)).toEqual([])
  })

  it('each fault by a case that the table of the whole contract lists for it', () => {
    const table = JSON.parse(readFileSync(TABLE, 'utf8')) as Readonly<Record<string, readonly string[]>>
    expect(Object.keys(table)).toEqual(FAULTS.map(([what]) => what))
    for (const [what, , caseName] of FAULTS) expect(table[what]).toContain(caseName)
    const known = casesOn(honest).map(({ name }) => name)
    expect([...new Set(Object.values(table).flat())].filter((name) => !known.includes(name))).toEqual([])
  })

  /** Against every fault the whole contract; `FULL=1 npx vitest run test/store-contract-catches.test.ts -u` writes the table. */
  it.runIf(IS_FULL)(
    'what the table says, and nothing in an honest store, by the whole contract',
    async () => {
      const table: Record<string, readonly string[]> = {}
      for (const [what, spoil] of FAULTS) table[what] = await failuresOf(casesOn(spoil))
      await expect(`${JSON.stringify(table, undefined, 2)}\n`).toMatchFileSnapshot(`../${TABLE}`)
      expect(await failuresOf(casesOn(honest))).toEqual([])
    },
    0,
  )
})
