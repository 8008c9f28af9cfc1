import { createHmac } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { type AddressLookup, NodeHookRunner } from '../../src/entry/hooks.ts'
import {
  afterHandoff,
  afterRun,
  chat,
  onError,
  type Received,
  SAMPLES,
  serve,
  sessionStart,
  threshold,
  webhook,
} from './samples.ts'

const KEY = 'correct-horse-battery-staple'
const runner = new NodeHookRunner({
  environment: { HOOK_TOKEN: 't0k3n-value', EMPTY: '', BROKEN: 'a\nb', HOOK_KEY: KEY },
})

/** A runner for which every name stands for these addresses. */
const resolving = (...addresses: readonly string[]) => {
  const asked: string[] = []
  const lookup: AddressLookup = async (hostname) => {
    asked.push(hostname)
    return addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }))
  }
  return { runner: new NodeHookRunner({ lookup }), asked }
}

const onlyOne = (received: readonly Received[]): Received => {
  const [first, second] = received
  if (first === undefined || second !== undefined) throw new Error(`${received.length} requests came`)
  return first
}

describe('a webhook', () => {
  it('posts the payload as JSON, and keeps the answer', async () => {
    await using server = await serve((_, response) => response.writeHead(201).end('noted'))
    const result = await runner.run(webhook(`${server.url}/hook?a=1`), afterRun)
    expect(result).toMatchObject({ ok: true, httpStatus: 201, output: 'noted', name: 'webhook' })
    const { method, path, headers, body } = onlyOne(server.received)
    expect([method, path, headers['content-type']]).toEqual(['POST', '/hook?a=1', 'application/json'])
    expect(JSON.parse(body)).toStrictEqual(afterRun)
    expect(headers).not.toHaveProperty('webhook-signature')
  })

  it('uses another method when told, and fills variables into headers', async () => {
    await using server = await serve()
    const headers = {
      Authorization: `Bearer \${HOOK_TOKEN}`,
      'X-Empty': `\${EMPTY}`,
      Host: 'other',
      'Content-Length': '1',
      'Transfer-Encoding': 'chunked',
    }
    const url = `${server.url}/\${HOOK_TOKEN}`
    expect((await runner.run(webhook(url, { method: 'PUT', headers }), afterRun)).ok).toBe(true)
    expect(server.received).toHaveLength(1)
    expect(server.received[0]).toMatchObject({ method: 'PUT', path: '/t0k3n-value' })
    expect(server.received[0]?.headers).toMatchObject({
      authorization: 'Bearer t0k3n-value',
      host: `127.0.0.1:${server.port}`,
    })
    expect(server.received[0]?.headers).not.toHaveProperty('transfer-encoding')
  })

  it.each([
    ['a header', { headers: { A: `\${NOT_THERE}` } }],
    ['a secret', { secret: `\${NOT_THERE}` }],
    ['a header by a name every object has', { headers: { A: `\${toString}` } }, 'toString'],
  ])('is refused with the name of a variable that %s needs and nobody set', async (_, more, name = 'NOT_THERE') => {
    await using server = await serve()
    const result = await runner.run(webhook(server.url, more), afterRun)
    expect(result).toMatchObject({
      ok: false,
      error: { code: 'hook.variable_missing', message: `The variable ${name} is not set.` },
    })
    expect(server.received).toEqual([])
  })

  it.each([
    [KEY, Buffer.from(KEY)],
    [`whsec_${Buffer.from(KEY).toString('base64')}`, Buffer.from(KEY)],
    [`\${HOOK_KEY}`, Buffer.from(KEY)],
  ])('is signed with %s', async (secret, key) => {
    await using server = await serve()
    await runner.run(webhook(server.url, { secret, headers: { 'Webhook-Signature': 'forged' } }), afterRun)
    const { headers, body } = onlyOne(server.received)
    const signed = `${headers['webhook-id']}.${headers['webhook-timestamp']}.${body}`
    const expected = createHmac('sha256', key).update(signed).digest('base64')
    expect(headers['webhook-signature']).toBe(`v1,${expected}`)
    expect(Math.abs(Number(headers['webhook-timestamp']) - Date.now() / 1_000)).toBeLessThan(10)
  })

  it.each([400, 404, 500, 503])('fails with status %i', async (status) => {
    await using server = await serve((_, response) => response.writeHead(status).end('no'))
    expect(await runner.run(webhook(server.url), afterRun)).toMatchObject({
      ok: false,
      httpStatus: status,
      output: 'no',
      error: { code: 'hook.http_status' },
    })
  })

  it.each([301, 302, 303, 307, 308, 304])('fails with a redirect (%i), which nobody follows', async (status) => {
    await using target = await serve()
    await using server = await serve((_, response) => response.writeHead(status, { location: target.url }).end())
    const result = await runner.run(webhook(server.url), afterRun)
    expect(result).toMatchObject({ ok: false, httpStatus: status, error: { code: 'hook.redirected' } })
    expect(target.received).toEqual([])
  })

  it('fails when the server never answers, never finishes, hangs up, or is not there', async () => {
    await using silent = await serve(() => {})
    const late = await runner.run(webhook(silent.url, { timeoutMs: 150 }), afterRun)
    expect(late).toMatchObject({ ok: false, error: { code: 'hook.timeout' } })
    await using slow = await serve((_, response) => void response.write('so far'))
    expect(await runner.run(webhook(slow.url, { timeoutMs: 150 }), afterRun)).toMatchObject({
      ok: false,
      error: { code: 'hook.timeout' },
    })
    await using rude = await serve((request) => request.socket.destroy())
    expect(await runner.run(webhook(rude.url), afterRun)).toMatchObject({
      ok: false,
      error: { code: 'hook.unreachable' },
    })
    expect(await runner.run(webhook('http://127.0.0.1:1/'), afterRun)).toMatchObject({
      ok: false,
      error: { code: 'hook.unreachable', message: 'The server could not be reached (ECONNREFUSED).' },
    })
  })

  it('fails when the server wants another protocol', async () => {
    await using server = await serve((request) =>
      request.socket.end('HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n'),
    )
    expect(await runner.run(webhook(server.url, { timeoutMs: 500 }), afterRun)).toMatchObject({ ok: false })
  })

  it('fails when it is no longer wanted', async () => {
    await using silent = await serve(() => {})
    const controller = new AbortController()
    setTimeout(() => controller.abort(), 100)
    const result = await runner.run(webhook(silent.url), afterRun, { signal: controller.signal })
    expect(result).toMatchObject({ ok: false, error: { code: 'hook.cancelled' } })
  })

  it('reads an answer without end only for a while', async () => {
    await using server = await serve((_, response) => {
      const more = (): void => {
        while (!response.destroyed && response.write('x'.repeat(65_536))) {}
      }
      response.on('drain', more)
      more()
    })
    const result = await runner.run(webhook(server.url, { timeoutMs: 600_000 }), afterRun)
    expect(result.ok).toBe(true)
    expect(result.output.length).toBeLessThan(70_000)
  })
})

describe('secrets', () => {
  it('do not come back in what a server sends', async () => {
    const literal = 'literal "header" value'
    await using server = await serve((request, response) => {
      response.end(JSON.stringify([request.url, request.headers, 'sign-secret-of-many-letters']))
    })
    const headers = { Authorization: `Bearer \${HOOK_TOKEN}`, 'X-Key': literal }
    const result = await runner.run(
      webhook(`${server.url}/T0/B0/xoxb`, { headers, secret: 'sign-secret-of-many-letters' }),
      afterRun,
    )
    expect(result.ok).toBe(true)
    expect(result.output).toContain('[secret]')
    expect(result.output).not.toMatch(/t0k3n|literal|xoxb|sign-secret/)
  })

  it('do not come back in halves where an output was cut', async () => {
    for (let shift = 0; shift < 12; shift += 1) {
      await using server = await serve((_, response) => {
        response.end('x'.repeat(48 * 1024 - shift) + 't0k3n-value'.repeat(12_000))
      })
      const { output } = await runner.run(webhook(server.url, { headers: { A: `\${HOOK_TOKEN}` } }), afterRun)
      expect(output).not.toMatch(/t0k|k3n|lue/)
    }
  })

  it('do not stand in failures', async () => {
    const url = `http://127.0.0.1:1/\${HOOK_TOKEN}`
    const broken = webhook('http://127.0.0.1:1/', { headers: { A: `\${BROKEN}` } })
    const wrong = webhook(`\${HOOK_TOKEN}`)
    const results = await Promise.all([webhook(url), broken, wrong].map((hook) => runner.run(hook, afterRun)))
    expect(results.map(({ ok }) => ok)).toEqual([false, false, false])
    expect(JSON.stringify(results)).not.toMatch(/t0k3n|a\\nb/)
  })
})

describe('where a webhook may go', () => {
  const refused = { ok: false, error: { code: 'hook.address_refused' } }

  it.each([
    'http://example.org/',
    'ftp://127.0.0.1/',
    'file:///etc/passwd',
    'not an address',
    'http://127.0.0.1.example.org/',
  ])('is not %s', async (url) => {
    const { runner: any, asked } = resolving('93.184.215.14')
    expect(await any.run(webhook(url), afterRun)).toMatchObject(refused)
    expect(asked).toEqual([])
  })

  it.each([
    ...[
      '10.0.0.1',
      '172.16.0.1',
      '172.31.255.255',
      '192.168.1.1',
      '127.0.0.1',
      '169.254.169.254',
      '100.64.0.1',
      '0.0.0.0',
    ],
    ...['224.0.0.1', '255.255.255.255', '198.18.0.1', '192.0.2.1'],
    ...['::1', '::', 'fe80::1', 'fd00::1', 'ff02::1', '::ffff:10.0.0.1', '::ffff:127.0.0.1', '64:ff9b::a00:1'],
    ...['2001:db8::1', '2002:a00:1::', '2001::1'],
  ])('is not %s, by name or written out', async (address) => {
    const { runner: fooled, asked } = resolving(address)
    expect(await fooled.run(webhook('https://hooks.example.org/'), afterRun)).toMatchObject(refused)
    expect(asked).toEqual(['hooks.example.org'])
    const host = address.includes(':') ? `[${address}]` : address
    const written = await runner.run(webhook(`https://${host}:1/`), afterRun)
    const isThisMachine = address === '127.0.0.1' || address === '::1'
    expect(written).toMatchObject(isThisMachine ? { ok: false, error: { code: 'hook.unreachable' } } : refused)
  })

  it('is not a name of which only some addresses are public', async () => {
    const { runner: mixed } = resolving('93.184.215.14', '10.0.0.1')
    expect(await mixed.run(webhook('https://hooks.example.org/'), afterRun)).toMatchObject(refused)
  })

  it('is not elsewhere under the name of this machine', async () => {
    const { runner: fooled } = resolving('93.184.215.14')
    expect(await fooled.run(webhook('http://localhost:1/'), afterRun)).toMatchObject(refused)
  })

  it('is this machine by name, looked up once for each call', async () => {
    await using server = await serve()
    const { runner: local, asked } = resolving('127.0.0.1')
    expect((await local.run(webhook(`http://localhost:${server.port}/`), afterRun)).ok).toBe(true)
    expect((await local.run(webhook(`http://localhost:${server.port}/`), afterRun)).ok).toBe(true)
    expect(asked).toEqual(['localhost', 'localhost'])
  })

  it('is a name whose later meaning does not count: what was checked is what is connected to', async () => {
    let times = 0
    const lookup: AddressLookup = async () => {
      times += 1
      return [{ address: times === 1 ? '10.0.0.1' : '127.0.0.1', family: 4 }]
    }
    const result = await new NodeHookRunner({ lookup }).run(webhook('https://hooks.example.org/'), afterRun)
    expect(result).toMatchObject(refused)
    expect(times).toBe(1)
  })

  it('is nowhere when a name stands for nothing, or is never found', async () => {
    const { runner: empty } = resolving()
    expect(await empty.run(webhook('https://hooks.example.org/'), afterRun)).toMatchObject({
      error: { code: 'hook.unreachable' },
    })
    const never = new NodeHookRunner({ lookup: () => new Promise(() => {}) })
    expect(await never.run(webhook('https://hooks.example.org/', { timeoutMs: 100 }), afterRun)).toMatchObject({
      error: { code: 'hook.timeout' },
    })
  })
})

describe('a message', () => {
  it('has the shape Slack takes, and mentions nobody', async () => {
    await using server = await serve()
    const shouting = { ...onError, error: { code: null, message: '<!channel> & more' } }
    expect((await runner.run(chat('slack', `${server.url}/services/x`), shouting)).ok).toBe(true)
    expect(JSON.parse(server.received[0]?.body ?? '')).toMatchObject({
      text: 'claude-code (job job-7, branch fix): the run ended: failed (&lt;!channel&gt; &amp; more)',
    })
  })

  it('has the shape Discord takes, mentions nobody, and is short enough', async () => {
    await using server = await serve((_, response) => response.writeHead(204).end())
    const long = { ...threshold, session: { ...threshold.session, agent_name: 'a'.repeat(3_000) } }
    expect((await runner.run(chat('discord', server.url), threshold)).ok).toBe(true)
    expect((await runner.run(chat('discord', server.url), long)).ok).toBe(true)
    expect(JSON.parse(server.received[0]?.body ?? '')).toStrictEqual({
      content: 'claude-code (job job-7, branch fix): the window is 85 % full (170000 of 200000 tokens)',
      allowed_mentions: { parse: [] },
      flags: 4,
    })
    expect(JSON.parse(server.received[1]?.body ?? '').content).toHaveLength(2_000)
  })

  it('says what happened at each moment, and never repeats a prompt', async () => {
    await using server = await serve()
    for (const payload of Object.values(SAMPLES)) await runner.run(chat('slack', server.url), payload)
    const texts = server.received.map(({ body }) => JSON.parse(body).text.split(': ').slice(1).join(': '))
    expect(texts).toEqual([
      'the run ended: completed',
      'the run ended: failed (No restart is left)',
      'the window is 85 % full (170000 of 200000 tokens)',
      'a new session continues the work',
      `handoff 1 is completed (${afterHandoff.handoff.reason})`,
    ])
    expect(JSON.stringify(server.received)).not.toMatch(/flaky|checkpoint/)
    expect(sessionStart.prompt).toContain('checkpoint')
  })
})
