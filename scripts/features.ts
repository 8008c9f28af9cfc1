import { spawnSync } from 'node:child_process'
import { STORE_KINDS } from '../test/support/stores.ts'

/** Runs every feature on every store, one after the other, and fails when any of them does. */
let status = 0
for (const kind of STORE_KINDS) {
  console.log(`\nFeatures on ${kind}:`)
  const profile = kind === 'memory' ? 'default' : kind
  const cucumber = ['--import', 'tsx', 'node_modules/@cucumber/cucumber/bin/cucumber.js', '--profile', profile]
  const run = spawnSync(process.execPath, cucumber, { stdio: 'inherit' })
  if (run.status !== 0) status = 1
}
process.exitCode = status
