import { randomBytes } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { secretProblem } from '../../src/domain/hooks/hook-secret.ts'
import { NodeHookRunner } from '../../src/entry/hooks.ts'
import { linesIn } from '../config/checking.ts'
import { afterRun, serve, webhook } from './samples.ts'

const LONG = 'correct-horse-battery-staple'
const ADVICE = 'Use a random key of 24 bytes or more, such as whsec_ and the output of: openssl rand -base64 32.'
const WHOLE = 'Copy the whole key, with any = at its end.'

/** Secrets that sign nothing, and why. */
const WEAK: [what: string, secret: string, problem: string, advice: string][] = [
  ['nothing', '', 'it is empty', ADVICE],
  ['blanks', '   ', 'it is empty', ADVICE],
  ['a mark without a key', 'whsec_', 'it is whsec_ and no key', ADVICE],
  ['a short word', 'hunter2', 'it has 7 bytes, which can be guessed', ADVICE],
  ['a text one byte too short', LONG.slice(0, 23), 'it has 23 bytes, which can be guessed', ADVICE],
  ['a short key in base64', 'whsec_c2VjcmV0', 'it has 6 bytes, which can be guessed', ADVICE],
  ['one letter again and again', 'a'.repeat(64), 'it repeats a few characters', ADVICE],
  ['a key of zeros', `whsec_${Buffer.alloc(32).toString('base64')}`, 'it repeats a few characters', ADVICE],
  ['a key that is not base64', `whsec_${'!'.repeat(44)}`, 'it is not base64 after whsec_', WHOLE],
  [
    'a key that lost its end',
    `whsec_${Buffer.from(LONG).toString('base64').slice(0, -1)}`,
    'it is not base64 after whsec_',
    WHOLE,
  ],
  ['a key of another alphabet', `whsec_${'-_'.repeat(22)}`, 'it is not base64 after whsec_', WHOLE],
]

const hookWith = (secret: string): object => ({
  hooks: { after_run: [{ type: 'webhook', url: 'https://example.org/', secret }] },
})

describe('a secret that anybody could guess', () => {
  it.each(WEAK)('is refused in a configuration: %s', async (_, secret, problem, advice) => {
    expect(await linesIn(hookWith(secret))).toEqual([`hooks.after_run[0].secret | ${problem} | ${advice}`])
  })

  it.each(WEAK)('signs nothing when a hook is called: %s', async (_, secret, problem) => {
    await using server = await serve()
    const runner = new NodeHookRunner({ environment: { KEY: secret } })
    for (const given of [secret, `\${KEY}`]) {
      expect(await runner.run(webhook(server.url, { secret: given }), afterRun)).toMatchObject({
        ok: false,
        error: { code: 'hook.secret_refused', message: expect.stringContaining(problem) },
      })
    }
    expect(server.received).toEqual([])
  })

  it('is refused as well when a variable ends in a line break, and says so', async () => {
    await using server = await serve()
    const runner = new NodeHookRunner({ environment: { KEY: `${LONG}\n` } })
    const result = await runner.run(webhook(server.url, { secret: `\${KEY}` }), afterRun)
    expect(result).toMatchObject({
      ok: false,
      error: { code: 'hook.secret_refused', message: expect.stringContaining('it begins or ends with a line break') },
    })
    expect(JSON.stringify(result)).not.toContain(LONG)
    expect(server.received).toEqual([])
  })

  it('is judged when it is used if a variable is part of it', async () => {
    expect(await linesIn(hookWith(`\${HOOK_SECRET}`))).toEqual([])
    expect(await linesIn(hookWith(`whsec_\${HOOK_SECRET}`))).toEqual([])
  })

  it('is none of the keys that people make', () => {
    fc.assert(
      fc.property(fc.integer({ min: 24, max: 64 }), (length) => {
        const key = randomBytes(length)
        expect(secretProblem(`whsec_${key.toString('base64')}`)).toBeUndefined()
        expect(secretProblem(key.toString('hex'))).toBeUndefined()
      }),
    )
  })
})

describe('a header', () => {
  it.each([
    ['TOKEN', 'abc\n', 'the variable TOKEN ends in a line break. Set it without one.'],
    ['TOKEN', 'abc\r\n', 'the variable TOKEN ends in a line break. Set it without one.'],
    ['TOKEN', 'a\nb', 'the variable TOKEN has a line break in it. Set it on one line.'],
    ['TOKEN', 'caf\u0000e', 'the variable TOKEN has a character that headers cannot hold.'],
    ['TOKEN', '\u{1f511}', 'the variable TOKEN has a character that headers cannot hold.'],
  ])('says of %s that its value cannot be sent: %j', async (name, value, why) => {
    await using server = await serve()
    const runner = new NodeHookRunner({ environment: { [name]: value } })
    const headers = { Authorization: `Bearer \${${name}}` }
    const result = await runner.run(webhook(server.url, { headers }), afterRun)
    expect(result).toMatchObject({
      ok: false,
      error: { code: 'hook.header_refused', message: `The header Authorization cannot be sent: ${why}` },
    })
    expect(server.received).toEqual([])
  })
})
