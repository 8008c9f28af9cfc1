import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { hiddenInAll } from '../../src/domain/secrets/hidden-text.ts'
import { hideSecrets } from '../../src/domain/secrets/hide-secrets.ts'
import { secretValuesIn } from '../../src/domain/secrets/secret-variables.ts'
import { runsOf } from '../support/amounts.ts'
import { PLANTED } from './planted.ts'

const shown = (text: string): string => hideSecrets(text).text

describe('a secret', () => {
  it.each(Object.entries(PLANTED))('of the form %s is hidden, and counted', (_, { text, secret }) => {
    const { text: hidden, hidden: counts } = hideSecrets(`before ${text} after`)
    expect(hidden).not.toContain(secret)
    expect(hidden).toContain('before ')
    expect(hidden).toContain(' after')
    expect(hidden).toMatch(/\[hidden:[a-z-]+\]/)
    expect(hiddenInAll(counts)).toBe(1)
  })

  it.each(Object.entries(PLANTED))('of the form %s is hidden inside JSON too', (_, { text, secret }) => {
    const inside = JSON.stringify({ said: text })
    const secretInside = JSON.stringify(secret).slice(1, -1)
    expect(shown(inside)).not.toContain(secretInside)
    expect(() => JSON.parse(shown(inside))).not.toThrow()
  })

  it.each([
    ['"apiKey": "abcd-efgh-1234"', '"apiKey": "[hidden:value]"'],
    ['FOO_TOKEN=abcdefgh', 'FOO_TOKEN=[hidden:value]'],
    ["password: 'correct horse battery'", "password: '[hidden:value]'"],
    ['postgres://bob:sup3rsecret@host/db', 'postgres://bob:[hidden:url-password]@host/db'],
    ['Authorization: Bearer abcdefgh', 'Authorization: Bearer [hidden:header]'],
    ['curl -u bob:sup3rsecret https://host', 'curl -u bob:[hidden:value] https://host'],
    ['mysql --password hunter2hunter2 db', 'mysql --password [hidden:value] db'],
    ['https://host/?token=abcdefghij&user=bob', 'https://host/?token=[hidden:value]&user=bob'],
    ['my password is hunter2hunter2', 'my password is [hidden:value]'],
  ])('leaves what stands around it: %s', (text, expected) => expect(shown(text)).toBe(expected))

  it.each([
    'FOO_TOKEN=abcdefg',
    'password: hunter2',
    'postgres://bob:hunter2@host/db',
    'const token = await fetchToken(request)',
    'readonly token: HolderToken',
    '"input_tokens": 123456789, "max_tokens": 200000',
    'password is required here',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: as a shell has it
    'FOO_TOKEN=$BAR_TOKEN, PASSWORD="${PASSWORD}", token=$(cat secret.txt)',
    'apiKey: options.apiKey,',
    'TOKEN_FILE=/run/secrets/token-of-the-day',
    'Bearer authentication and basic understanding',
    'commit 9fceb02d0ae598e95dc970b74767f19372d61af8',
    '0190a0a0-0000-7000-8000-000000000001',
    'sk-loading-indicator-of-a-style-sheet',
  ])('is not seen where there is none, or where it has fewer than 8 characters: %s', (text) =>
    expect(hideSecrets(text)).toEqual({ text, hidden: {} }),
  )

  it('is hidden whole: a private key with its lines, one without its end, and one without its beginning', () => {
    const body = 'MIIEvQIBADANBgkq\nhkiG9w0BAQEFAASC==\n'
    const whole = `a\n-----BEGIN RSA PRIVATE KEY-----\n${body}-----END RSA PRIVATE KEY-----\nb`
    expect(shown(whole)).toBe('a\n[hidden:private-key]\nb')
    expect(shown(`a -----BEGIN PRIVATE KEY-----\n${body}`)).toBe('a [hidden:private-key]')
    expect(shown(`${body}-----END PRIVATE KEY-----\nb`)).toBe('[hidden:private-key]\nb')
    expect(shown(whole.replaceAll('\n', '\\n'))).toBe('a\\n[hidden:private-key]\\nb')
  })

  it('cannot hide behind something that looks like a mark', () => {
    expect(shown('[hidden:sk-ant-api03-abcdefghijkl1]')).toBe('[hidden:[hidden:key]]')
  })
})

describe('the values of variables', () => {
  const environment = {
    DEPLOY_TOKEN: 'correct "horse" battery',
    SHORT_TOKEN: 'abcdefg',
    DATABASE_URL: 'postgres://bob:p%40ssword1@host/db',
    PWD: '/home/bob/projects',
    SSH_AUTH_SOCK: '/tmp/ssh-abcdefgh/agent.1',
    GOOGLE_APPLICATION_CREDENTIALS: '/home/bob/key.json',
    MAX_OUTPUT_TOKENS: '64000000',
    EDITOR: 'emacs-nox-client',
  }
  const values = secretValuesIn(environment)

  it('that look like secrets are hidden wherever they stand, as they are, in a URL and in JSON', () => {
    const text = `x${environment.DEPLOY_TOKEN}y ${JSON.stringify(environment.DEPLOY_TOKEN)} p@ssword1 p%40ssword1`
    const { text: hidden, hidden: counts } = hideSecrets(text, { values })
    expect(hidden).toBe('x[hidden:variable]y "[hidden:variable]" [hidden:variable] [hidden:variable]')
    expect(counts).toEqual({ variable: 4 })
  })

  it('that do not, or have fewer than 8 characters, stay', () => {
    for (const value of ['abcdefg', '/home/bob/projects', '/tmp/ssh-abcdefgh/agent.1', '64000000', 'emacs-nox-client'])
      expect(hideSecrets(value, { values }).text).toBe(value)
  })
})

describe('hiding', () => {
  const pieces = fc.constantFrom(
    ...Object.values(PLANTED).flatMap(({ text, secret }) => [text, secret, secret.slice(0, 12), secret.slice(-12)]),
    ...[
      '[hidden:key]',
      '[hidden:',
      ']',
      'password',
      '="',
      "'",
      '\\"',
      ': ',
      '=',
      ' is ',
      '-----BEGIN PRIVATE KEY-----',
    ],
    ...['-----END PRIVATE KEY-----', 'eyJ', '.', '://a:', '@', '\n', ' ', 'correct horse', 'variable', 'hidden'],
  )
  const values = ['variable', 'hidden:k', 'correct horse']

  it('changes nothing a second time, and gives the same for the same text', () => {
    fc.assert(
      fc.property(fc.array(fc.oneof(pieces, fc.string()), { maxLength: 12 }), (parts) => {
        const text = parts.join('')
        const once = hideSecrets(text, { values })
        expect(hideSecrets(once.text, { values })).toEqual({ text: once.text, hidden: {} })
        expect(hideSecrets(text, { values })).toEqual(once)
      }),
      { numRuns: runsOf(2_000) },
    )
  })
})
