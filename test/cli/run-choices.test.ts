import { describe, expect, it } from 'vitest'
import { runChoices } from '../../src/adapters/cli/choose/run-choices.ts'
import type { Invocation } from '../../src/adapters/cli/invocation/invocation.ts'

const invoked = (values: Invocation['values']): Invocation => ({ values, positionals: [], environment: {} }) as never

describe('the choices of a run', () => {
  it('say nothing of looking back unless it is switched off, so that a configuration may', () => {
    expect(runChoices(invoked({ 'no-look-back': true }), undefined, undefined).lookBack).toBe(false)
    expect(runChoices(invoked({}), undefined, undefined)).not.toHaveProperty('lookBack')
  })
})
