import { spawnSync } from 'node:child_process'
import { existsSync, writeFileSync } from 'node:fs'
import { performance } from 'node:perf_hooks'

/** How long the built package takes to start, beside a bare Node, in turns so that a busy machine is busy for all. */
const ROUNDS = Number(process.argv[2] ?? 15)
if (!existsSync('dist/index.js')) throw new Error('There is nothing built: run npm run build first.')

const EMPTY = 'dist/.empty.js'
writeFileSync(EMPTY, '')
const PROGRAMS: Readonly<Record<string, readonly string[]>> = {
  'bare Node': [EMPTY],
  "import 'batonpass'": ['dist/index.js'],
  'baton --version': ['dist/adapters/cli/main.js', '--version'],
  'baton --help': ['dist/adapters/cli/main.js', '--help'],
}

const took = (args: readonly string[]): number => {
  const begun = performance.now()
  const { status } = spawnSync(process.execPath, args, { stdio: 'ignore' })
  if (status !== 0) throw new Error(`node ${args.join(' ')} ended with ${status}`)
  return performance.now() - begun
}

const median = (figures: readonly number[]): number => figures.toSorted((a, b) => a - b)[figures.length >> 1] ?? 0

const rounds = Array.from({ length: ROUNDS }, () => Object.values(PROGRAMS).map(took))
const medians = Object.keys(PROGRAMS).map((_, index) => median(rounds.map((round) => round[index] ?? 0)))
for (const [index, name] of Object.keys(PROGRAMS).entries()) {
  const figure = medians[index] ?? 0
  console.log(
    `${name.padEnd(20)} ${figure.toFixed(0).padStart(6)} ms  ${(figure / (medians[0] ?? 1)).toFixed(2)} times bare Node`,
  )
}
