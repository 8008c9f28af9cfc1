import { randomUUID } from 'node:crypto'
import { connect } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ROUTES, type Route } from '../../src/adapters/http/routes.ts'
import { sessionToken } from '../../src/ports/terminal/service-proof.ts'
import { ServiceStage, windowAt } from './stage.ts'

/** Sends bytes as they are, and reads until the other side ends. */
const raw = (port: number, ...parts: readonly (string | Promise<void>)[]): Promise<string> =>
  new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1')
    let said = ''
    socket.on('data', (part) => {
      said += part.toString()
    })
    socket.on('close', () => resolve(said))
    // Whoever sends more than is wanted may be cut off in the middle.
    socket.on('error', (error: NodeJS.ErrnoException) =>
      ['ECONNRESET', 'EPIPE'].includes(error.code ?? '') ? resolve(said) : reject(error),
    )
    void (async () => {
      for (const part of parts) {
        if (typeof part === 'string') socket.write(part)
        else await part
      }
    })()
  })

describe('the service refuses', () => {
  let stage: ServiceStage
  let id: string
  let session: string
  let port: number
  beforeAll(async () => {
    stage = await ServiceStage.open({ timeouts: { headersMs: 400, requestMs: 800, idleMs: 400 } })
    port = stage.port
    id = `p-${randomUUID()}`
    session = String((await stage.hook(id, 'session-start', { source: 'startup' })).json.session_id)
  })
  afterAll(async () => stage[Symbol.asyncDispose]())

  const event = (payload: object = {}) => ({
    ...{ v: 1, commandId: randomUUID(), at: new Date().toISOString(), event: 'statusline', runtime: 'claude' },
    payload: { session_id: id, ...windowAt(10), ...payload },
  })
  const codeOf = async (asked: Parameters<ServiceStage['ask']>[2], path = '/hooks/events', method = 'POST') => {
    const { status, json, text } = await stage.ask(method, path, asked)
    expect(text).not.toMatch(/\bat .*\.ts:|node_modules/)
    return [status, json.error?.code]
  }

  it.each(['evil.example', 'localhost', `evil.example:80`, '127.0.0.1:1', `127.0.0.1.evil.example:80`])(
    'a foreign host: "%s"',
    async (host) => {
      expect(await codeOf({ headers: { host }, token: null }, '/health', 'GET')).toEqual([421, 'host.foreign'])
    },
  )

  it('a request without a host', async () => {
    expect(await raw(port, 'GET /health HTTP/1.0\r\n\r\n')).toMatch(/ 4(21|00) /)
    expect(await raw(port, 'GET /health HTTP/1.1\r\nhost:\r\nconnection: close\r\n\r\n')).toMatch(/ 4(21|00) /)
  })

  it('no host of its own', async () => {
    for (const host of [`localhost:${port}`, `127.0.0.1:${port}`, `[::1]:${port}`, `LOCALHOST:${port}`])
      expect((await stage.ask('GET', '/health', { headers: { host } })).status).toBe(200)
  })

  it('any origin but its own', async () => {
    for (const origin of [
      'https://evil.example',
      'null',
      `http://127.0.0.1:${port + 1}`,
      `https://127.0.0.1:${port}`,
      '',
    ]) {
      expect(await codeOf({ headers: { origin }, body: event() })).toEqual([403, 'origin.foreign'])
      expect(await codeOf({ headers: { origin }, token: null }, '/health', 'OPTIONS')).toEqual([403, 'origin.foreign'])
    }
    expect((await stage.ask('GET', '/health', { headers: { origin: `http://127.0.0.1:${port}` } })).status).toBe(200)
  })

  it('every route without a token, but the open ones', async () => {
    for (const { method, path, access } of Object.values(ROUTES as Readonly<Record<string, Route>>)) {
      const asked = method === 'get' || method === 'delete' ? {} : { body: {} }
      for (const headers of [{}, { authorization: 'Bearer short' }, { authorization: `Basic ${stage.master}` }]) {
        const { status } = await stage.ask(method.toUpperCase(), path.replace('{id}', id), {
          ...asked,
          headers,
          token: null,
        })
        // Without a nonce there is nothing to prove.
        expect([path, status]).toEqual([path, path === '/proof' ? 400 : access === 'open' ? 200 : 401])
      }
    }
  })

  it('the token of another session, and what only the person may do', async () => {
    const other = stage.tokenOf('another-session')
    for (const token of [other, '0'.repeat(64), sessionToken('0'.repeat(64), id)]) {
      expect(await codeOf({ token, body: event() })).toEqual([403, 'token.wrong'])
      for (const name of [id, session]) {
        expect(await codeOf({ token }, `/sessions/${name}`, 'GET')).toEqual([403, 'token.wrong'])
        expect(await codeOf({ token, body: { notify: 'self' } }, `/sessions/${name}/monitor`, 'PUT')).toEqual([
          403,
          'token.wrong',
        ])
        expect(await codeOf({ token, body: { signals: [] } }, `/sessions/${name}/signals/ack`)).toEqual([
          403,
          'token.wrong',
        ])
      }
      const body = { provider_session_id: 'mine-not', runtime: 'claude' }
      expect(await codeOf({ token, body }, '/sessions')).toEqual([403, 'token.wrong'])
    }
    // Not even the token that belongs to the id of ours, taken for a name of the runtime's.
    expect(await codeOf({ token: stage.tokenOf(session) }, `/sessions/${session}`, 'GET')).toEqual([403, 'token.wrong'])
    const own = stage.tokenOf(id)
    expect((await stage.ask('GET', `/sessions/${session}`, { token: own })).status).toBe(200)
    for (const path of ['/sessions', '/events'])
      expect(await codeOf({ token: own }, path, 'GET')).toEqual([403, 'token.wrong'])
  })

  it('bodies that are too large, said to be or not', async () => {
    const large = JSON.stringify(event({ cwd: 'x'.repeat(1024 * 1024) }))
    expect(await codeOf({ text: large })).toEqual([413, 'body.too_large'])
    const head = `POST /hooks/events HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\nauthorization: Bearer ${stage.master}\r\ncontent-type: application/json\r\n`
    const size = large.length.toString(16)
    const chunked = await raw(port, `${head}transfer-encoding: chunked\r\n\r\n`, `${size}\r\n${large}\r\n0\r\n\r\n`)
    expect(chunked).toContain('413')
    expect(await raw(port, `${head}content-length: 999999999\r\n\r\n`)).toContain('413')
  })

  it('bodies of another kind, or that are no JSON', async () => {
    for (const type of ['text/plain', 'application/x-www-form-urlencoded', ''])
      expect(await codeOf({ body: event(), headers: { 'content-type': type } })).toEqual([415, 'body.not_json'])
    for (const text of ['', '{', 'null', '[]', '"x"', '{"v":1}', '\u0000', '{"v":2}', `${JSON.stringify(event())}}`])
      expect(await codeOf({ text })).toEqual([400, 'input.invalid'])
  })

  it.each([['../../etc/passwd'], ['.hidden'], ['a/b'], ['a b'], [''], ['x'.repeat(129)], ['a\u0000b']])(
    'a session name that is no name of a file: %j',
    async (session_id) => {
      expect(await codeOf({ body: event({ session_id }) })).toEqual([400, 'input.invalid'])
      const path = `/sessions/${encodeURIComponent(session_id)}`
      if (session_id !== '') expect((await stage.ask('GET', path)).status).toBe(404)
    },
  )

  it('clients that take too long', async () => {
    const head = `POST /hooks/events HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\nauthorization: Bearer ${stage.master}\r\ncontent-type: application/json\r\n`
    expect(await raw(port, `${head}content-length: 100\r\n\r\n{"v":`)).toContain('408')
    expect(await raw(port, 'GET /health HTTP/1.1\r\nhos')).toContain('408')
    expect((await stage.ask('GET', '/health')).status).toBe(200)
  })

  it('what is no HTTP', async () => {
    expect(await raw(port, 'hello\r\n\r\n')).toContain('400')
    expect((await stage.ask('GET', '/health')).status).toBe(200)
  })
})
