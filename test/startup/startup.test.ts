import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { loadedBy } from './loaded-modules.ts'

/** What a bare Node may take for is about thirty small modules and no package; `npm run bench:startup` shows the ratio. */
const FEW = 32

describe('starting', () => {
  const folder = mkdtempSync('.startup-')
  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  const program = (name: string, text: string): string => {
    const file = join(folder, name)
    writeFileSync(file, text)
    return file
  }

  it('loads few modules and no package with the root', async () => {
    const { ours, packages } = await loadedBy('src/index.ts')
    expect(packages).toEqual([])
    expect(ours).toBeGreaterThan(5)
    expect(ours).toBeLessThanOrEqual(FEW)
  })

  it('is seen when a package is loaded', async () => {
    const { packages } = await loadedBy(program('heavy.ts', "import '../src/postgres.ts'\nimport '../src/index.ts'\n"))
    expect(packages).toEqual(expect.arrayContaining(['@electric-sql/pglite', 'kysely', 'pg', 'zod']))
  })

  it('loads no database and no parser for a store in memory', async () => {
    const text = "import { createBatonpass } from '../src/index.ts'\nawait createBatonpass({ store: 'memory' })\n"
    const { packages } = await loadedBy(program('memory.ts', text))
    expect(packages).toContain('tsyringe')
    for (const unused of ['@electric-sql/pglite', 'kysely', 'pg', 'yaml', 'zod']) expect(packages).not.toContain(unused)
  })
})
