import { expect, it } from 'vitest'
import { runsOf } from '../support/amounts.ts'
import { openStore } from '../support/stores.ts'
import { PLANS } from './commands.ts'
import { modelAgrees } from './model-agrees.ts'

it('random sequences of commands agree with the plain model and with their own audit log', async () => {
  const tallies = await modelAgrees(() => openStore('memory'), { runs: runsOf(300), commands: 60 })
  for (const kind of [...Object.keys(PLANS), 'repeat', 'reuse'] as const) {
    const { allowed, refused } = tallies.get(kind as never) ?? { allowed: 0, refused: 0 }
    expect(allowed, `${kind} was never allowed`).toBeGreaterThan(0)
    expect(refused, `${kind} was never refused`).toBeGreaterThan(0)
  }
})
