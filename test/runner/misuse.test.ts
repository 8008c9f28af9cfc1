import { expect, it } from 'vitest'
import { createBatonpass, RefusedError } from '../../src/entry/index.ts'

/** Requests from JavaScript, where no compiler has looked at them. */
const WRONG: Readonly<Record<string, unknown>> = {
  'nothing at all': undefined,
  null: null,
  'a text': 'Fix it',
  'an empty request': {},
  'a prompt alone': { prompt: 'Fix it' },
  'no agent': { prompt: 'Fix it', runtime: { backend: 'scripted', start: () => undefined } },
  'an agent that is a number': { prompt: 'Fix it', agent: 5, runtime: { backend: 'scripted', start: () => undefined } },
}

/** A sentence for a person, and not one of the engine about our own code. */
const isForPeople = (error: unknown): boolean =>
  error instanceof RefusedError || (error instanceof TypeError && error.message.endsWith('.'))

const thrownBy = async (act: () => Promise<unknown>): Promise<unknown> => {
  try {
    return await act()
  } catch (error) {
    return error
  }
}

it.each(Object.keys(WRONG))('a run is refused in words: %s', async (name) => {
  await using batonpass = await createBatonpass({ store: 'memory' })
  const error = await thrownBy(() => batonpass.run(WRONG[name] as never).finish())
  expect(isForPeople(error), String(error)).toBe(true)
})

it('a run without its agent names the field', async () => {
  await using batonpass = await createBatonpass({ store: 'memory' })
  const error = await thrownBy(() => batonpass.run(WRONG['no agent'] as never).finish())
  expect(error).toMatchObject({ refusal: { code: 'input.invalid', fields: [{ field: 'agent' }] } })
})

it.each([undefined, null, {}, { agents: {} }, { agents: { coder: {} } }])(
  'work is refused in words: %j',
  async (wrong) => {
    await using batonpass = await createBatonpass({ store: 'memory' })
    const error = await thrownBy(() => batonpass.work(wrong as never))
    expect(isForPeople(error), String(error)).toBe(true)
  },
)

it.each([null, 'all', 5])('a recovery is refused in words: %j', async (wrong) => {
  await using batonpass = await createBatonpass({ store: 'memory' })
  const error = await thrownBy(() => batonpass.recover(wrong as never))
  expect(isForPeople(error), String(error)).toBe(true)
})
