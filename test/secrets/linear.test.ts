import { spawnSync } from 'node:child_process'
import { resolve } from 'node:path'
import { describe, expect, it } from 'vitest'

/** The worst words of every rule: each begins what it looks for and never ends it. */
const WORST = [
  ...[
    '-----BEGIN PRIVATE KEY-----',
    '-----END PRIVATE KEY-----',
    'eyJ',
    'eyJaaaaaaaa.',
    'token=',
    'token="',
    'token=\\"',
  ],
  ...[
    'token="$',
    'token=<',
    'token: a',
    'password: a.',
    'password="\\',
    '://a:',
    '://a:a@',
    'sk-',
    'AKIA',
    'authorization: ',
  ],
  ...[
    'bearer ',
    'cookie:',
    'A_KEY',
    'A_KEY=',
    '--a',
    '-',
    ' -u a',
    '[hidden:',
    '[hidden:key]',
    'xoxb-',
    '12345678:AA',
    ' ',
    'a',
  ],
]

const SIZE = 8 * 1024 * 1024

describe('hiding secrets takes time in proportion to the text', () => {
  // The one place where a time guards a test: what is not linear takes hours.
  it.each(WORST)('8 MB of %j end', { timeout: 120_000 }, (word) => {
    const module = resolve('src/domain/secrets/hide-secrets.ts')
    const args = ['--import', 'tsx', 'test/secrets/worst-cases.mjs', module, word, String(SIZE)]
    const { status, signal, stderr } = spawnSync(process.execPath, args, { timeout: 60_000, encoding: 'utf8' })
    expect({ status, signal, stderr }).toEqual({ status: 0, signal: null, stderr: '' })
  })
})
