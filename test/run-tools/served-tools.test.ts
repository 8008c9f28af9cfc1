import { request as send } from 'node:http'
import { afterEach, describe, expect, it } from 'vitest'
import { serveTools } from '../../src/adapters/mcp/served-tools.ts'
import type { LookBackAnswer } from '../../src/domain/history/look-back.ts'
import { err, ok } from '../../src/domain/kernel/result.ts'
import type {
  Delegates,
  HandsOver,
  LooksBack,
  ServedTools,
  ToolQuestion,
  ToolsEndpoint,
} from '../../src/ports/agent/run-tools.ts'
import { connected, lookBack } from '../support/tools-client.ts'

const NOTHING: Omit<LookBackAnswer, 'question'> = { found: [], isWhole: true }

const open: ServedTools[] = []
afterEach(async () => {
  for (const served of open.splice(0)) await served[Symbol.asyncDispose]()
})

const serve = async (): Promise<ServedTools> => {
  const served = await serveTools()
  open.push(served)
  return served
}

/** Somebody who answers, and remembers what was asked. */
const answering = (): { readonly asked: ToolQuestion[]; readonly looksBack: LooksBack } => {
  const asked: ToolQuestion[] = []
  const looksBack: LooksBack = async (one) => {
    asked.push(one)
    return ok({ ...NOTHING, question: one.question })
  }
  return { asked, looksBack }
}

interface Raw {
  readonly method?: string
  readonly path?: string
  readonly headers?: Record<string, string>
  readonly body?: string
}

const CALL = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} })

/** A request by hand, with whatever headers: the status that it got. */
const statusOf = ({ url, token }: ToolsEndpoint, raw: Raw = {}): Promise<number> => {
  const { hostname, port, pathname } = new URL(url)
  const { method = 'POST', path = pathname, body = method === 'POST' ? CALL : '' } = raw
  const usual = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }
  const headers = { authorization: `Bearer ${token}`, ...usual, ...raw.headers }
  return new Promise((resolve, reject) => {
    const sent = send({ hostname, port, path, method, headers, agent: false }, (response) => {
      response.resume()
      resolve(response.statusCode ?? 0)
    })
    sent.once('error', reject)
    sent.end(body)
  })
}

describe('the tools of a run', () => {
  it('are look_back alone, which only looks, and its question reaches whoever answers', async () => {
    const { asked, looksBack } = answering()
    const endpoint = (await serve()).offer({ lookBack: looksBack })
    await using client = await connected(endpoint)
    const { tools } = await client.listTools()
    expect(tools.map(({ name, annotations }) => [name, annotations?.readOnlyHint])).toEqual([['look_back', true]])
    expect(endpoint.tools).toEqual(['look_back'])
    expect(client.getServerCapabilities()?.tools?.listChanged ?? false).toBe(false)
    expect(await lookBack(endpoint, { call: '[call:toolu_1]', limit: 2_000 })).toMatchObject({ isError: false })
    expect(asked).toEqual([{ question: { by: 'call', callId: '[call:toolu_1]' }, limit: 2_000 }])
  })

  it('hand the work over where there is somebody to hand it to, and the wish reaches whoever carries it out', async () => {
    const asked: unknown[] = []
    const ask: HandsOver = async (wish) => {
      asked.push(wish)
      return wish.to === 'coder' ? ok(wish) : err({ code: 'handoff.same_agent', message: 'Name another agent: coder.' })
    }
    const endpoint = (await serve()).offer({ handOver: { to: ['coder'], ask } })
    expect(endpoint.tools).toEqual(['handoff'])
    await using client = await connected(endpoint)
    const { tools } = await client.listTools()
    expect(tools.map(({ name, annotations }) => [name, annotations?.readOnlyHint])).toEqual([['handoff', false]])
    expect(tools[0]?.description).toContain('coder')
    const call = (input: Record<string, unknown>) => client.callTool({ name: 'handoff', arguments: input })
    expect(JSON.stringify(await call({ to: ' coder ', reason: 'Done.' }))).toContain('goes to \\"coder\\"')
    expect(await call({ to: 'planner' })).toMatchObject({ isError: true })
    expect(await call({ reason: 'Nobody named' })).toMatchObject({ isError: true })
    expect(asked).toEqual([{ to: 'coder', reason: 'Done.' }, { to: 'planner' }])
  })

  it('take the wish of an agent to delegate, and say no in words that it can act on', async () => {
    const asked: unknown[] = []
    const ask: Delegates = async (wish) => {
      asked.push(wish)
      return wish.to === 'coder' ? ok(wish) : err({ code: 'thread.too_deep', message: 'Do this part yourself.' })
    }
    const endpoint = (await serve()).offer({ delegate: { to: ['coder', 'tester'], ask } })
    expect(endpoint.tools).toEqual(['delegate'])
    await using client = await connected(endpoint)
    const { tools } = await client.listTools()
    expect(tools[0]?.description).toContain('coder, tester')
    expect(tools[0]?.annotations?.readOnlyHint).toBe(false)
    const call = (input: Record<string, unknown>) => client.callTool({ name: 'delegate', arguments: input })
    expect(JSON.stringify(await call({ to: ' coder ', task: 'Parse.' }))).toContain('\\"coder\\" begins with it now')
    expect(await call({ to: 'tester', task: 'Test.' })).toMatchObject({
      isError: true,
      content: [{ text: 'thread.too_deep: Do this part yourself.' }],
    })
    expect(await call({ to: 'coder' })).toMatchObject({ isError: true })
    expect(asked).toEqual([
      { to: 'coder', task: 'Parse.' },
      { to: 'tester', task: 'Test.' },
    ])
  })

  it('say no in words that the agent can act on', async () => {
    const endpoint = (await serve()).offer({
      lookBack: async () => err({ code: 'look_back.spent', message: 'No more.' }),
    })
    expect(await lookBack(endpoint, { words: 'quokka' })).toEqual({ isError: true, text: 'look_back.spent: No more.' })
    const unclear = await lookBack(endpoint, { words: 'quokka', file: 'a.ts' })
    expect(unclear).toMatchObject({ isError: true, text: expect.stringContaining('exactly one') })
  })

  it('tell an agent that the answer failed, and not why', async () => {
    const endpoint = (await serve()).offer({
      lookBack: async () => {
        throw new Error('connect postgres://someone:s3cret@db')
      },
    })
    const { isError, text } = await lookBack(endpoint, { words: 'quokka' })
    expect([isError, text.includes('s3cret')]).toEqual([true, false])
    expect(text).toContain('tool.failed')
  })

  it('open to the token of the latest launch only', async () => {
    const served = await serve()
    const [first, second] = [
      served.offer({ lookBack: answering().looksBack }),
      served.offer({ lookBack: answering().looksBack }),
    ]
    expect(first.token).not.toBe(second.token)
    expect(first.token.length).toBeGreaterThan(40)
    expect(await statusOf(second)).toBe(200)
    expect(await statusOf(first)).toBe(401)
    expect(await statusOf({ ...second, token: `${second.token.slice(0, -1)}!` })).toBe(401)
    expect(await statusOf(second, { headers: { authorization: '' } })).toBe(401)
    expect(await statusOf(second, { headers: { authorization: second.token } })).toBe(401)
    await expect(lookBack(first, { words: 'quokka' })).rejects.toThrow()
  })

  it('are for no page of a browser: neither another host nor any origin is answered, token or not', async () => {
    const endpoint = (await serve()).offer({ lookBack: answering().looksBack })
    const { port } = new URL(endpoint.url)
    for (const host of [`evil.example:${port}`, 'evil.example', `localhost:${port}`, '127.0.0.1', '127.0.0.1:1'])
      expect(await statusOf(endpoint, { headers: { host } })).toBe(421)
    for (const origin of ['http://evil.example', `http://127.0.0.1:${port}`, 'null'])
      expect(await statusOf(endpoint, { headers: { origin } })).toBe(403)
  })

  it('are asked by POST at one path, with a body of a bounded size', async () => {
    const endpoint = (await serve()).offer({ lookBack: answering().looksBack })
    expect(await statusOf(endpoint, { path: '/' })).toBe(404)
    expect(await statusOf(endpoint, { path: '/mcp/../etc' })).toBe(404)
    for (const method of ['GET', 'DELETE', 'OPTIONS', 'PUT']) expect(await statusOf(endpoint, { method })).toBe(405)
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list', params: { x: 'x'.repeat(300_000) } })
    expect(await statusOf(endpoint, { body })).toBe(413)
    expect(await statusOf(endpoint, { body: 'no JSON' })).toBe(400)
    expect(await statusOf(endpoint)).toBe(200)
  })

  it('are gone once they are disposed of, also for a client that is connected', async () => {
    const served = await serveTools()
    const endpoint = served.offer({ lookBack: answering().looksBack })
    await using client = await connected(endpoint)
    await served[Symbol.asyncDispose]()
    await expect(statusOf(endpoint)).rejects.toThrow(/ECONNREFUSED/)
    await expect(client.callTool({ name: 'look_back', arguments: { words: 'x' } })).rejects.toThrow()
  })
})
