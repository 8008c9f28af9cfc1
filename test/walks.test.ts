import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'

// The maps for newcomers name files and folders. A map that names what has moved is worse than none.

const MAPS = ['docs/design.md', 'docs/testing.md', 'CONTRIBUTING.md']

/** A path in a document begins at the root, or, to be short, in `src`, in the domain or in the migrations. */
const ROOTS = ['.', 'src', 'src/domain', 'migrations']

/** Names with a slash that stand for no file of this repository. */
const NO_PATHS: Readonly<Record<string, string>> = {
  'batonpass/testing': 'a sub-path of the package',
  '.ci/run': 'stands beside the package',
  'dist/': 'is built',
  'src/adapters/NAME': 'is to be made',
  'src/adapters/NAME/vendor.ts': 'is to be made',
  'src/adapters/NAME/runtime.ts': 'is to be made',
  'src/adapters/NAME/reader.ts': 'is to be made',
  'src/entry/NAME.ts': 'is to be made',
  'migrations/00NN_NAME.sql': 'is to be made',
  'migrations/00NN_NAME.down.sql': 'is to be made',
}

/** The paths in the inline code of a text: words with a slash, or with the ending of a file. Packages are not meant. */
const pathsIn = (markdown: string): readonly string[] =>
  [...markdown.replaceAll(/^```[\s\S]*?^```/gm, '').matchAll(/`([^`\s*<>{}()]+)`/g)]
    .map(([, code = '']) => code)
    .filter((code) => /^[\w.][\w./-]*$/.test(code) && (code.includes('/') || /\.(?:ts|sql|md|json|golden)$/.test(code)))

const withoutTables = (markdown: string): string =>
  markdown.replaceAll(/<!-- generated: [\s\S]*?<!-- \/generated -->/g, '')

const isThere = (path: string): boolean => ROOTS.some((root) => existsSync(join(root, path)))

/** A bare name stands for a file beside the one that was named before it. */
const missing = (markdown: string): readonly string[] => {
  let folder = '.'
  return pathsIn(withoutTables(markdown)).filter((path) => {
    if (path in NO_PATHS) return false
    if (!path.includes('/')) return !isThere(path) && !isThere(join(folder, path))
    folder = dirname(path)
    return !isThere(path)
  })
}

describe('the paths in the maps for newcomers', () => {
  it.each(MAPS)('of %s are there', (map) => {
    expect(missing(readFileSync(map, 'utf8'))).toEqual([])
  })

  it('are read at all', () => {
    const named = pathsIn(withoutTables(readFileSync('docs/design.md', 'utf8')))
    expect(named.length).toBeGreaterThan(100)
    expect(named).toContain('services/commands/command-runner.ts')
  })

  it('are seen when nothing stands there', () => {
    const text =
      'See `domain/kernel/draft.ts`, `ids.ts` and `no-ids.ts`, `src/nowhere.ts`, `nowhere/else` and `npm test`.'
    expect(missing(text)).toEqual(['no-ids.ts', 'src/nowhere.ts', 'nowhere/else'])
  })
})
