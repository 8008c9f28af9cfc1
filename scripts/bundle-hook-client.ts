import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'

/** The part of esbuild that is used here. It comes with tsx. */
interface Bundler {
  build(options: Readonly<Record<string, unknown>>): Promise<unknown>
}

/**
 * Puts the hook client into one file. A hook is a process that lives for a moment, several times a second: loading twenty
 * small files would take as long as all of its work.
 */
export const bundleHookClient = async (entry: string, outfile: string): Promise<void> => {
  const tsx = createRequire(import.meta.url).resolve('tsx')
  const { build } = createRequire(tsx)('esbuild') as Bundler
  const format = { bundle: true, platform: 'node', format: 'esm', target: 'node20', charset: 'utf8' }
  await build({ ...format, entryPoints: [entry], outfile, allowOverwrite: true, logLevel: 'error' })
}

/** The built hook client, which becomes its own bundle. */
const RUN_HOOK = 'dist/adapters/hook-client/run-hook.js'

if (process.argv[1] === fileURLToPath(import.meta.url)) await bundleHookClient(RUN_HOOK, RUN_HOOK)
