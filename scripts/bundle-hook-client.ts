import { createRequire } from 'node:module'
import { dirname, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

/** The part of esbuild that is used here. It comes with tsx. */
interface Bundler {
  build(options: Readonly<Record<string, unknown>>): Promise<unknown>
}

/** An import, as esbuild asks what it leads to. */
interface Asked {
  readonly path: string
  readonly kind: string
  readonly resolveDir: string
}

interface Building {
  onResolve(where: { readonly filter: RegExp }, lead: (asked: Asked) => object | undefined): void
}

/** Code that is imported when it is called stays a file of its own: no hook calls the readers and runtimes of agents. */
const laterImports = (outfile: string) => ({
  name: 'later-imports',
  setup: ({ onResolve }: Building): void =>
    onResolve({ filter: /^\.\.?\// }, ({ path, kind, resolveDir }) => {
      if (kind !== 'dynamic-import') return undefined
      const there = relative(dirname(resolve(outfile)), resolve(resolveDir, path))
      return { path: there.startsWith('.') ? there : `./${there}`, external: true }
    }),
})

/**
 * Puts the hook client into one file. A hook is a process that lives for a moment, several times a second: loading twenty
 * small files would take as long as all of its work.
 */
export const bundleHookClient = async (entry: string, outfile: string): Promise<void> => {
  const tsx = createRequire(import.meta.url).resolve('tsx')
  const { build } = createRequire(tsx)('esbuild') as Bundler
  const plugins = [laterImports(outfile)]
  const format = { bundle: true, platform: 'node', format: 'esm', target: 'node20', charset: 'utf8' }
  await build({ ...format, entryPoints: [entry], outfile, allowOverwrite: true, plugins, logLevel: 'error' })
}

/** The built hook client, which becomes its own bundle. */
const RUN_HOOK = 'dist/main/hook.js'

if (process.argv[1] === fileURLToPath(import.meta.url)) await bundleHookClient(RUN_HOOK, RUN_HOOK)
