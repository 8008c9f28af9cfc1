import { After, AfterAll, Before, Status, setDefaultTimeout } from '@cucumber/cucumber'
import { closeStores } from '../../test/support/stores.ts'
import type { HandoffWorld } from './world.ts'

// Only what hangs is to end: a busy machine may need long.
setDefaultTimeout(600_000)

Before(async function (this: HandoffWorld) {
  await this.open()
})

After(async function (this: HandoffWorld, { result }) {
  await this.close()
  if (result?.status === Status.PASSED) this.attempts.mustBeHeard()
  // Cucumber lets a skipped scenario pass; living documentation that did not run documents nothing.
  if (result?.status === Status.SKIPPED) throw new Error('This scenario was skipped')
})

AfterAll(closeStores)
