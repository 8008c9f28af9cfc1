import { spawnSync } from 'node:child_process'
import { existsSync, writeFileSync } from 'node:fs'
import { performance } from 'node:perf_hooks'
import { HOOK_INPUT, hookService, POSTERS } from './bench-hooks.ts'

/**
 * How long the built package takes to start, beside a bare Node. The programs take turns, so that a busy machine is busy
 * for all of them. The more rounds, the truer both figures: `npm run bench:startup -- 100`.
 */
const ROUNDS = Number(process.argv[2] ?? 30)
if (!existsSync('dist/entry/index.js')) throw new Error('There is nothing built: run npm run build first.')

const EMPTY = 'dist/.empty.js'
const MAIN = 'dist/adapters/cli/main.js'
writeFileSync(EMPTY, '')
await using service = await hookService()
const PROGRAMS: Readonly<Record<string, readonly string[]>> = {
  'bare Node': [EMPTY],
  "import 'batonpass'": ['dist/entry/index.js'],
  'baton --version': [MAIN, '--version'],
  'baton --help': [MAIN, '--help'],
  'hook statusline': [MAIN, 'hook', 'statusline', '--data-dir', service.folder],
  'hook post-tool-use': [MAIN, 'hook', 'post-tool-use', '--data-dir', service.folder],
  'hook stop': [MAIN, 'hook', 'stop', '--data-dir', service.folder],
  'hook, no service': [MAIN, 'hook', 'statusline', '--data-dir', service.emptyFolder],
  // The ways to post, each in a program that does nothing else.
  ...Object.fromEntries(Object.entries(POSTERS).map(([name, text]) => [name, ['--input-type=module', '-e', text]])),
}

const environment = { ...process.env, SOCKET: service.socket }
const took = (args: readonly string[]): number => {
  const begun = performance.now()
  const { status } = spawnSync(process.execPath, args, {
    input: HOOK_INPUT,
    env: environment,
    stdio: ['pipe', 'ignore', 'ignore'],
  })
  if (status !== 0) throw new Error(`node ${args.join(' ')} ended with ${status}`)
  return performance.now() - begun
}

const median = (figures: readonly number[]): number => figures.toSorted((a, b) => a - b)[figures.length >> 1] ?? 0

const rounds = Array.from({ length: ROUNDS }, () => Object.values(PROGRAMS).map(took))
const timesOf = (index: number): readonly number[] => rounds.map((round) => round[index] ?? 0)
const shown = (name: string, figure: number, bare: number): string =>
  `${name} ${figure.toFixed(0).padStart(5)} ms, ${(figure / bare).toFixed(2)} times bare Node`

for (const [index, name] of Object.keys(PROGRAMS).entries()) {
  const shortest = shown('shortest', Math.min(...timesOf(index)), Math.min(...timesOf(0)))
  console.log(`${name.padEnd(20)} ${shortest}; ${shown('median', median(timesOf(index)), median(timesOf(0)))}`)
}
