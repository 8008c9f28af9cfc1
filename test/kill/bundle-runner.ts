import { createRequire } from 'node:module'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'

/** What is used here of esbuild. It comes with tsx, which children are loaded with otherwise. */
interface Bundler {
  build(options: Readonly<Record<string, unknown>>): Promise<unknown>
}

const ENTRY = fileURLToPath(new URL('./runner-process.ts', import.meta.url))
/** Where the migrations are looked for from. */
const SOURCE = new URL('../../src/adapters/postgres/migration-files.ts', import.meta.url).href
/** Packages of the older kind ask for their parts this way. */
const BANNER = "import { createRequire as requireFor } from 'node:module'; const require = requireFor(import.meta.url);"

/**
 * Puts the runner process into one file, and answers with its URL. Hundreds of processes are started from it, and each
 * of them would spend two seconds on loading the sources one by one.
 */
export const bundleRunner = async (folder: string): Promise<string> => {
  const tsx = createRequire(import.meta.url).resolve('tsx')
  const { build } = createRequire(tsx)('esbuild') as Bundler
  const outfile = join(folder, 'runner-process.mjs')
  const format = { bundle: true, platform: 'node', format: 'esm', target: 'node20', banner: { js: BANNER } }
  const define = { 'import.meta.url': JSON.stringify(SOURCE) }
  await build({ ...format, define, entryPoints: [ENTRY], outfile, logLevel: 'error' })
  return pathToFileURL(outfile).href
}
