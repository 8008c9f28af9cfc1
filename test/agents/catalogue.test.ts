import { deepEqual, equal, ok } from 'node:assert/strict'
import { describe, it } from 'node:test'
import { believedWindow } from '../../src/adapters/catalogue/model-catalogue.ts'
import { uses } from './claude-stage.ts'
import { startMessagesApi } from './messages-api.ts'
import { PATIENT } from './patience.ts'
import { runAgent } from './run-agent.ts'

/** Models that the installed command takes as they are named. One it has retired it replaces, and is no use here. */
const MODELS = [
  ...['claude-sonnet-4-0', 'claude-sonnet-4-5', 'claude-opus-4-5', 'claude-haiku-4-5', 'claude-opus-4-6'],
  ...['claude-sonnet-4-6', 'claude-opus-4-6[1m]', 'claude-sonnet-4-6[1m]', 'claude-opus-4-7', 'claude-opus-4-8'],
  ...['claude-opus-5', 'claude-opus-5-5', 'claude-sonnet-5', 'claude-sonnet-5-5', 'claude-fable-5', 'claude-fable-5-1'],
]

/** Newer than the catalogue: not known is fine, and more than is true would not be. */
const NEWER = ['claude-fable-5-2', 'claude-mythos-5', 'claude-haiku-5-5']

/** How large the installed command says a model's window is, after a real run of it. */
const windowByCommand = async (model: string): Promise<number> => {
  await using api = await startMessagesApi({ turns: [{ text: 'Yes.', usage: uses(5, 100, 0, 4) }] })
  for await (const message of runAgent({ url: api.url, prompt: 'Are you there?', options: { model } })) {
    if (message.type !== 'result') continue
    const said = message.modelUsage[model]
    ok(said, `the command ran ${model} as ${Object.keys(message.modelUsage)}`)
    return said.contextWindow
  }
  throw new Error(`${model} came to no result`)
}

describe('the window a model is believed to have, and what the installed command says', PATIENT, () => {
  for (const model of MODELS) {
    it(`of ${model} are the same`, async () => {
      equal(believedWindow(model)?.tokens, await windowByCommand(model))
    })
  }

  for (const model of NEWER) {
    it(`of ${model} differ by no token too many`, async () => {
      ok((believedWindow(model)?.tokens ?? 0) <= (await windowByCommand(model)))
    })
  }

  it('are of both kinds: a suffix makes the difference', () => {
    deepEqual(
      ['claude-opus-4-6', 'claude-opus-4-6[1m]'].map((model) => believedWindow(model)?.tokens),
      [200_000, 1_000_000],
    )
  })
})
