import { createRequire } from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

/** What is used here of esbuild. It comes with tsx, which children are loaded with otherwise. */
interface Bundler {
  build(options: Readonly<Record<string, unknown>>): Promise<unknown>
}

/** Where the migrations are looked for from. */
const SOURCE = new URL('../../src/adapters/postgres/migration-files.ts', import.meta.url).href
/** Packages of the older kind ask for their parts this way. */
const BANNER = "import { createRequire as requireFor } from 'node:module'; const require = requireFor(import.meta.url);"

/**
 * Puts a program into one file, and answers with its URL. Many processes are started from it, and each of them would
 * spend two seconds on loading the sources one by one. Packages that look for files of their own stay outside; they are
 * found from the folder.
 */
export const bundle = async (entry: string, folder: string, external: readonly string[] = []): Promise<string> => {
  const tsx = createRequire(import.meta.url).resolve('tsx')
  const { build } = createRequire(tsx)('esbuild') as Bundler
  const outfile = join(folder, 'bundle.mjs')
  const format = { bundle: true, platform: 'node', format: 'esm', target: 'node20', banner: { js: BANNER } }
  const define = { 'import.meta.url': JSON.stringify(SOURCE) }
  await build({ ...format, define, external, entryPoints: [entry], outfile, logLevel: 'error' })
  return pathToFileURL(outfile).href
}
