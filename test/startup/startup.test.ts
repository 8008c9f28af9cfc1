import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { bundleHookClient } from '../../scripts/bundle-hook-client.ts'
import { loadedBy } from './loaded-modules.ts'

/**
 * Some thirty small modules and no package stay within 1.5 times a bare Node; `npm run bench:startup` shows the ratio. A
 * hook is one file once it is built; from source it has more modules, for the rule of the store, the proof of the service, the hiding of secrets and the records of agents.
 */
const FEW = 36
const FEW_OF_A_HOOK = 70

describe('starting', () => {
  const folder = mkdtempSync('.startup-')
  afterAll(() => rmSync(folder, { recursive: true, force: true, maxRetries: 10 }))

  const program = (name: string, text: string): string => {
    const file = join(folder, name)
    writeFileSync(file, text)
    return file
  }

  it('loads few modules and no package with the root', async () => {
    const { ours, packages } = await loadedBy('src/entry/index.ts')
    expect(packages).toEqual([])
    expect(ours).toBeGreaterThan(5)
    expect(ours).toBeLessThanOrEqual(FEW)
  })

  it.each([
    ['--version', 1],
    ['--help', 10],
  ])('loads few modules and no package for baton %s', async (word, most) => {
    const { ours, packages } = await loadedBy('src/adapters/cli/main.ts', word)
    console.log(`${ours} modules for baton ${word}`)
    expect(packages).toEqual([])
    expect(ours).toBeLessThanOrEqual(most)
  })

  it('loads few modules and no package with a hook', async () => {
    const { ours, packages } = await loadedBy('src/adapters/cli/main.ts', 'hook', 'statusline', '--data-dir', folder)
    expect(packages).toEqual([])
    expect(ours).toBeGreaterThan(5)
    expect(ours).toBeLessThanOrEqual(FEW_OF_A_HOOK)
  })

  it('loads one module with a hook of the built package, and nothing of Node that it does not always need', async () => {
    const built = join(folder, 'hook-client.mjs')
    await bundleHookClient('src/main/hook.ts', built)
    const imported = [...readFileSync(built, 'utf8').matchAll(/^import .* from "(.*)";$/gm)].map(([, name]) => name)
    const always = ['node:crypto', 'node:fs', 'node:os', 'node:path', 'node:util']
    expect([...new Set(imported)].sort()).toEqual(always)
  })

  it('is seen when a package is loaded; the embedded engine is not, before a folder is opened', async () => {
    const { packages } = await loadedBy(
      program('heavy.ts', "import '../src/entry/postgres.ts'\nimport '../src/entry/index.ts'\n"),
    )
    expect(packages).toEqual(expect.arrayContaining(['kysely', 'pg', 'zod']))
    expect(packages).not.toContain('@electric-sql/pglite')
  })

  it('loads no database and no parser for a store in memory', async () => {
    const text = "import { createBatonpass } from '../src/entry/index.ts'\nawait createBatonpass({ store: 'memory' })\n"
    const { packages } = await loadedBy(program('memory.ts', text))
    expect(packages).toContain('tsyringe')
    for (const unused of ['@electric-sql/pglite', '@modelcontextprotocol/server', 'kysely', 'pg', 'yaml', 'zod'])
      expect(packages).not.toContain(unused)
  })
})
