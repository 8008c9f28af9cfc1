import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join, relative } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'

/** What is used here of esbuild. It comes with tsx, which children are loaded with otherwise. */
interface Bundler {
  build(options: Readonly<Record<string, unknown>>): Promise<unknown>
}

interface Building {
  onLoad(where: { readonly filter: RegExp }, load: (file: { readonly path: string }) => object | undefined): void
}

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
/** Packages of the older kind ask for their parts this way. */
const BANNER = "import { createRequire as requireFor } from 'node:module'; const require = requireFor(import.meta.url);"

/** It asks for its parts in a way that esbuild does not see. */
const ALWAYS_OUTSIDE = ['jsonc-parser']

/** Our files look for others beside them, such as migrations: each keeps its own address in the one file. */
const ownAddresses = {
  name: 'own-addresses',
  setup: ({ onLoad }: Building): void =>
    onLoad({ filter: /\.ts$/ }, ({ path }) => {
      if (path.includes('node_modules')) return undefined
      const address = JSON.stringify(pathToFileURL(path).href)
      return { contents: readFileSync(path, 'utf8').replaceAll('import.meta.url', address), loader: 'ts' }
    }),
}

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
  // The bundler outlives the room of the file that started it, which was its working folder.
  await build({
    ...format,
    absWorkingDir: ROOT,
    plugins: [ownAddresses],
    external: [...external, ...ALWAYS_OUTSIDE],
    entryPoints: [entry],
    outfile,
    logLevel: 'error',
  })
  return pathToFileURL(outfile).href
}

const programs = new Map<string, Promise<string>>()
let ours: string | undefined

/** The folder of this process's programs, where a run of the tests has none for all its processes. */
const ownFolder = (): string => {
  if (ours !== undefined) return ours
  mkdirSync(join(ROOT, 'reports'), { recursive: true })
  const made = mkdtempSync(join(ROOT, 'reports', 'programs-'))
  process.once('exit', () => rmSync(made, { recursive: true, force: true, maxRetries: 10 }))
  ours = made
  return made
}

/** Made once in a run of the tests: the first process that needs it makes it, and the others find it. */
const madeOnce = async (entry: string): Promise<string> => {
  const shelf = process.env.TEST_PROGRAMS ?? ownFolder()
  const place = join(shelf, relative(ROOT, entry).replaceAll(/[^a-z0-9]+/gi, '-'))
  const made = join(place, 'bundle.mjs')
  if (existsSync(made)) return made
  const draft = mkdtempSync(join(shelf, 'draft-'))
  await bundle(entry, draft, ['@electric-sql/pglite'])
  try {
    renameSync(draft, place)
  } catch (problem) {
    // Another process was quicker, and has made the same.
    if (!existsSync(made)) throw problem
    rmSync(draft, { recursive: true, force: true, maxRetries: 10 })
  }
  return made
}

/** A program of the tests or the sources as one file, made once in a run of the tests. @returns its path */
export const program = (entry: string): Promise<string> => {
  const made = programs.get(entry) ?? madeOnce(entry)
  programs.set(entry, made)
  return made
}
