import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { createBatonpass, readConfiguration } from '../../src/entry/index.ts'
import { ScriptedRuntime } from '../../src/entry/testing.ts'
import { batonOn } from '../cli/terminal.ts'
import { fileWith, linesIn } from './checking.ts'

const NAMED = 'restart:\n  template_file: prompts/checkpoint.md\n'

/** A configuration that names a template, and the template with this text. */
const withTemplate = (text: string | Uint8Array | undefined, configuration = NAMED): string => {
  const file = fileWith(configuration)
  mkdirSync(join(dirname(file), 'prompts'))
  if (text !== undefined) writeFileSync(join(dirname(file), 'prompts', 'checkpoint.md'), text)
  return file
}

const problemOf = async (file: string): Promise<string> => {
  const lines = await linesIn(file)
  expect(lines).toHaveLength(1)
  return (lines[0] ?? '').replace(dirname(file), '…')
}

describe('a checkpoint template in a file', () => {
  it('is read from next to the configuration, wherever that lies', async () => {
    const { configuration, settings } = await readConfiguration(withTemplate('Where are you?'))
    expect(configuration.restart.template).toBe('Where are you?')
    expect(settings.find(({ key }) => key === 'restart.template')).toEqual({
      key: 'restart.template',
      value: 'Where are you?',
      from: 'restart.template_file (prompts/checkpoint.md)',
    })
  })

  it('may stand in the configuration itself', async () => {
    const { configuration } = await readConfiguration({ restart: { template: 'Where are you?' } })
    expect(configuration.restart.template).toBe('Where are you?')
  })

  it('is what the outgoing agent is asked', async () => {
    const runtime = new ScriptedRuntime({
      windowTokens: 1_000,
      windows: [
        { turns: [{ text: 'Half.', promptTokens: 900, tools: ['edit'] }], checkpoint: 'Half is done.' },
        { turns: [{ text: 'All.', promptTokens: 100 }] },
      ],
    })
    await using batonpass = await createBatonpass({
      store: 'memory',
      config: withTemplate('So far "{original_task}"?'),
    })
    await batonpass.run({ runtime, agent: 'claude-code', prompt: 'Fix it', policy: 'auto' }).finish()
    expect(runtime.questions.map(({ prompt }) => prompt)).toEqual(['So far "Fix it"?'])
  })

  it('and one for what the successor opens with', async () => {
    const runtime = new ScriptedRuntime({
      windowTokens: 1_000,
      windows: [
        { turns: [{ text: 'Half.', promptTokens: 900, tools: ['edit'] }], checkpoint: 'Half is done.' },
        { turns: [{ text: 'All.', promptTokens: 100 }] },
      ],
    })
    const config = withTemplate('{original_task} — {checkpoint}', NAMED.replace('template_file', 'continuation_file'))
    await using batonpass = await createBatonpass({ store: 'memory', config })
    await batonpass.run({ runtime, agent: 'claude-code', prompt: 'Fix it', policy: 'auto' }).finish()
    expect(runtime.launches[1]?.prompt).toMatch(/^Fix it — <checkpoint-[^>]+>\nHalf is done\.\n<\/checkpoint-[^>]+>$/)
  })

  it('is a problem when it is missing, empty, no text, or there twice', async () => {
    const key = 'restart.template_file | …/prompts/checkpoint.md'
    expect(await problemOf(withTemplate(undefined))).toBe(`${key}: there is no such file | Check the name.`)
    expect(await problemOf(withTemplate(' \n'))).toBe(`${key} is empty | Write the text in it, or leave the key out.`)
    expect(await problemOf(withTemplate(Uint8Array.of(0xff)))).toBe(
      `${key}: it is not text in UTF-8 | Save it as UTF-8.`,
    )
    expect(await problemOf(withTemplate('x', 'restart: { template_file: prompts }'))).toBe(
      'restart.template_file | …/prompts: it is not a file | Name a text file.',
    )
    expect(await problemOf(withTemplate('x', `${NAMED}  template: y\n`))).toBe(
      'restart.template_file | restart.template is there as well | Keep one of the two: the text, or the file it stands in.',
    )
  })

  it('is shown by baton config check, with the file and the line', async () => {
    const said = await batonOn('')('config', 'check', withTemplate('Where are you?'))
    expect(said.out).toMatch(
      /^restart\.template +Where are you\? +restart\.template_file \(prompts\/checkpoint\.md\)$/m,
    )
    const missing = await batonOn('')('config', 'check', withTemplate(undefined))
    expect(missing).toMatchObject({
      code: 3,
      out: expect.stringMatching(/batonpass\.yaml:2: restart\.template_file: /),
    })
  })
})
