import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'

/** The versions of Node that we promise, by their first number. */
export const NODES = ['20', '22', '24'] as const

/** One program for each version of Node. */
export interface NodeRun {
  readonly node: string
  readonly command: readonly string[]
}

const VITEST = ['node', 'node_modules/vitest/vitest.mjs', 'run'] as const

/**
 * The programs to run for these arguments. Numbers choose the versions of Node, and without one it is every version.
 * Other words are given to vitest, and without one everything is checked, built and tested.
 */
export const nodeRuns = (args: readonly string[]): readonly NodeRun[] => {
  const chosen = args.filter((word) => /^\d+(\.\d+)*$/.test(word))
  const tests = args.filter((word) => !chosen.includes(word))
  const command = tests.length === 0 ? ['npm', 'test'] : [...VITEST, ...tests]
  return (chosen.length === 0 ? NODES : chosen).map((node) => ({ node, command }))
}

/** Runs a program with a Node from the npm package `node`, and answers with the exit status. */
const runOn = ({ node, command }: NodeRun): number => {
  console.log(`\nNode ${node}: ${command.join(' ')}`)
  const { status, error } = spawnSync('npm', ['exec', '--yes', `--package=node@${node}`, '--', ...command], {
    stdio: 'inherit',
  })
  if (error !== undefined) throw error
  return status ?? 1
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const ended = nodeRuns(process.argv.slice(2)).map((run) => ({ ...run, status: runOn(run) }))
  console.log('')
  for (const { node, status } of ended) console.log(`Node ${node}: ${status === 0 ? 'passed' : 'failed'}`)
  if (ended.some(({ status }) => status !== 0)) process.exitCode = 1
}
