import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { SHELLS } from '../../src/adapters/cli/invocation/flag-words.ts'
import { CLI_COMMANDS } from '../../src/adapters/cli/tree/index.ts'
import { batonWith } from './terminal.ts'

const baton = batonWith({})

const scriptFor = async (shell: string): Promise<string> => {
  const { code, out, err } = await baton('completion', shell)
  expect({ code, err }).toEqual({ code: 0, err: '' })
  return out
}

describe.each(SHELLS)('completion for %s', (shell) => {
  it('has every command and every flag of it', async () => {
    const script = await scriptFor(shell)
    for (const [name, { flags }] of Object.entries(CLI_COMMANDS)) {
      for (const word of name.split(' ')) expect(script).toMatch(new RegExp(`\\b${word}\\b`))
      const own = script.split('\n').filter((line) => line.includes(`'${name}'`))
      for (const flag of Object.keys(flags))
        expect(own.some((line) => line.includes(shell === 'fish' ? `-l ${flag} ` : `--${flag}`))).toBe(true)
    }
  })
})

it.each([
  [[], 'Say for which shell: bash, zsh, fish.'],
  [['powershell'], 'it must be one of bash, zsh, fish.'],
])('completion for %j is refused', async (words, sentence) => {
  const { code, err } = await baton('completion', ...words)
  expect(code).toBe(2)
  expect(err).toContain(sentence)
})

/** The words that bash would offer, with the cursor after the last of these. */
const offered = (script: string, words: readonly string[]): readonly string[] => {
  const ask = [
    script,
    'COMP_WORDS=("$@")',
    `COMP_CWORD=$(($# - 1))`,
    '_baton',
    `printf '%s\\n' "\${COMPREPLY[@]}"`,
  ].join('\n')
  const said = execFileSync('bash', ['--norc', '-c', ask, 'bash', 'baton', ...words], { encoding: 'utf8' })
  return said.split('\n').filter((word) => word !== '')
}

const hasBash = ['/bin/bash', '/usr/bin/bash', '/usr/local/bin/bash'].some((path) => existsSync(path))

describe.skipIf(!hasBash)('bash itself offers', () => {
  it.each<readonly [readonly string[], readonly string[]]>([
    [['mig'], ['migrate']],
    [
      ['migrate', ''],
      ['up', 'down', 'status', 'sql', '--help'],
    ],
    [
      ['migrate', 's'],
      ['status', 'sql'],
    ],
    [
      ['handoffs', 'list', '--un'],
      ['--until', '--unclaimed-for'],
    ],
    [
      ['handoffs', 'list', '--kind', ''],
      ['transfer', 'agent_transfer', 'restart', 'context_restart', 'thread'],
    ],
    [['handoffs', 'list', '--json', '--kind', 're'], ['restart']],
    [['handoffs', 'list', '--agent', ''], []],
    [
      ['run', '--runtime', 'co'],
      ['codex', 'command'],
    ],
    [['help', 'mig'], ['migrate']],
    [['help', 'migrate', 'u'], ['up']],
    [['completion', 'z'], ['zsh']],
    [['prune', '--config', 'package.js'], ['package.json']],
  ])('after %j: %j', async (words, expected) => {
    expect(offered(await scriptFor('bash'), words)).toEqual(expected)
  })
})
