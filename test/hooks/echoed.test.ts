import type { IncomingMessage } from 'node:http'
import { describe, expect, it } from 'vitest'
import { NodeHookRunner } from '../../src/entry/hooks.ts'
import { afterRun, chat, serve, webhook } from './samples.ts'

const runner = new NodeHookRunner({ environment: { TOKEN: 'sword fish/ü&"<', LONG: 'swordfish-of-many-letters' } })

/** A server that answers with something made of the request. */
const echoing = (answer: (request: IncomingMessage) => string) =>
  serve((request, response) => response.end(answer(request)))

const decoded = (text: string): string => decodeURIComponent(text.replaceAll('+', ' '))

describe('a server that sends back what it was sent, in another form', () => {
  it.each<readonly [string, (request: IncomingMessage) => string]>([
    ['as it is', ({ url = '' }) => url],
    ['decoded', ({ url = '' }) => decoded(url)],
    ['decoded, part by part', ({ url = '' }) => decoded(url).split('/').join(' ')],
    ['in JSON', ({ url = '' }) => JSON.stringify({ url, decoded: decoded(url) })],
    ['in JSON with slashes escaped', ({ url = '' }) => JSON.stringify(decoded(url)).replaceAll('/', '\\/')],
    ['in base64', ({ url = '' }) => Buffer.from(url).toString('base64')],
    ['in base64 after something', ({ url = '' }) => Buffer.from(`at:${url}`).toString('base64')],
    ['in hex', ({ url = '' }) => Buffer.from(url).toString('hex')],
  ])('shows no address: %s', async (_, answer) => {
    await using server = await echoing(answer)
    for (const type of ['slack', 'discord'] as const) {
      const result = await runner.run(
        chat(type, `${server.url}/services/T0/sword%20fish-of-many-letters?k=hidden%2Dvalue`),
        afterRun,
      )
      expect(result.ok).toBe(true)
      expect(result.output).toContain('[secret]')
      expect(result.output).not.toMatch(/sword|fish-of|hidden|value|c3dvcm|N3b3Jk|zd29yZ|73776f7264/)
    }
  })

  it.each<readonly [string, (authorization: string) => string]>([
    ['as it is', (value) => value],
    ['without the scheme', (value) => value.split(' ')[1] ?? ''],
    ['decoded', (value) => Buffer.from(value.split(' ')[1] ?? '', 'base64').toString()],
    [
      'the password alone',
      (value) =>
        Buffer.from(value.split(' ')[1] ?? '', 'base64')
          .toString()
          .split(':')[1] ?? '',
    ],
    ['encoded twice', (value) => Buffer.from(value).toString('base64')],
    ['for a URL', (value) => encodeURIComponent(value)],
  ])('shows no credentials, of the address or of a header: %s', async (_, answer) => {
    await using server = await echoing(({ headers }) => answer(headers.authorization ?? ''))
    const credentials = Buffer.from('somebody:sword-fish-7').toString('base64')
    const inAddress = webhook(server.url.replace('//', '//somebody:sword%2Dfish%2D7@'))
    const inHeader = webhook(server.url, { headers: { Authorization: `Basic ${credentials}` } })
    for (const hook of [inAddress, inHeader]) {
      const { output } = await runner.run(hook, afterRun)
      expect(output).toContain('[secret]')
      expect(output).not.toMatch(/fish|c29tZWJvZHk|Zpc2gtN|c3dvcmQ/)
    }
  })

  it.each<readonly [string, (value: string) => string]>([
    ['the word after its scheme', (value) => value.slice('Bearer '.length)],
    ['in base64url', (value) => Buffer.from(value).toString('base64url')],
  ])('shows no bearer token: %s', async (_, answer) => {
    await using server = await echoing(({ headers }) => answer(headers.authorization ?? ''))
    for (const token of ['swordfish-of-many-letters', `\${LONG}`]) {
      const { output } = await runner.run(
        webhook(server.url, { headers: { Authorization: `Bearer ${token}` } }),
        afterRun,
      )
      expect(output).toContain('[secret]')
      expect(output).not.toMatch(/fish|letters|c3dvcmRmaXNo|N3b3JkZmlza|zd29yZGZpc2/)
    }
  })

  it('shows no value of a variable, as HTML, in a URL, or as it is', async () => {
    const forms = ['sword fish/ü&"<', 'sword fish/ü&amp;&quot;&lt;', encodeURIComponent('sword fish/ü&"<')]
    await using server = await echoing(() => forms.join('\n'))
    const { output } = await runner.run(webhook(`${server.url}/\${TOKEN}`), afterRun)
    expect(output).toBe('[secret]\n[secret]\n[secret]')
  })
})
