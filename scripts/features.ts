import { spawn } from 'node:child_process'
import { STORE_KINDS, type StoreKind } from '../test/support/stores.ts'

/** How many stores are gone through at the same time. */
const AT_ONCE = 2

const runOn = async (kind: StoreKind): Promise<number> => {
  const profile = kind === 'memory' ? 'default' : kind
  const cucumber = ['--import', 'tsx', 'node_modules/@cucumber/cucumber/bin/cucumber.js', '--profile', profile]
  const child = spawn(process.execPath, cucumber, { stdio: ['ignore', 'pipe', 'pipe'] })
  let output = ''
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => {
      output += chunk.toString()
    })
  const status = await new Promise<number>((resolve) => child.once('close', (code) => resolve(code ?? 1)))
  console.log(`\nFeatures on ${kind}:\n${output}`)
  return status
}

/** Runs every feature on every store, and fails when any of them does. */
// `test/features.test.ts` goes through all of them in memory already.
const isInMemoryDone = process.argv.includes('--done-in-memory')
const kinds = STORE_KINDS.filter((kind) => !(isInMemoryDone && kind === 'memory')).values()
const worker = async (): Promise<void> => {
  for (const kind of kinds) if ((await runOn(kind)) !== 0) process.exitCode = 1
}
await Promise.all(Array.from({ length: AT_ONCE }, worker))
