import { get, type IncomingMessage } from 'node:http'
import { describe, expect, it } from 'vitest'
import { ServiceStage, windowAt } from './stage.ts'

/** Follows the events, and waits until something was said. */
const following = async (stage: ServiceStage, headers: Readonly<Record<string, string>> = {}) => {
  let said = ''
  const waiting = new Set<() => void>()
  const answer = await new Promise<IncomingMessage>((resolve, reject) => {
    const options = { port: stage.port, host: '127.0.0.1', path: '/events', agent: false }
    const all = { authorization: `Bearer ${stage.master}`, ...headers }
    get({ ...options, headers: all }, resolve).on('error', reject)
  })
  answer.on('data', (part: Buffer) => {
    said += part.toString()
    for (const look of waiting) look()
  })
  answer.on('error', () => {})
  const until = (text: string | RegExp): Promise<string> =>
    new Promise((resolve) => {
      const look = (): void => {
        if (typeof text === 'string' ? said.includes(text) : text.test(said)) resolve(said)
      }
      waiting.add(look)
      look()
    })
  const ended = new Promise<void>((resolve) => answer.on('close', resolve))
  return { until, ended, answer, close: () => answer.destroy() }
}

const FAST = { events: { pollMs: 10, heartbeatMs: 20, mostClients: 2 } }

describe('the stream of events', () => {
  it('tells live of sessions, milestones, compactions and handoffs, without texts', async () => {
    await using stage = await ServiceStage.open(FAST)
    await stage.hook('before', 'session-start', { source: 'startup' })
    const stream = await following(stage)
    await stream.until(': connected')
    expect(stream.answer.headers['content-type']).toContain('text/event-stream')
    await stage.hook('live-1', 'session-start', { source: 'startup' })
    await stage.hook('live-1', 'statusline', windowAt(70))
    await stage.hook('live-1', 'post-compact', { trigger: 'auto' })
    const turns = [
      {
        messages: [
          { role: 'user', text: 'a secret text' },
          { role: 'assistant', text: 'another' },
        ],
      },
    ]
    await stage.ask('POST', '/sessions/live-1/turns', { body: { turns } })
    const body = { document: 'a secret document', target_agent: 'reviewer' }
    await stage.ask('POST', '/sessions/live-1/handoff', { body })
    const said = await stream.until('handoff.initiated')
    for (const kind of ['session', 'milestone', 'compaction', 'handoff']) expect(said).toContain(`event: ${kind}\n`)
    expect(said).toContain('"milestone":"critical"')
    expect(said).not.toContain('secret')
    const { json } = await stage.ask('GET', '/sessions/before')
    expect(said).not.toContain(String(json.session_id))
    await stream.until(': still here')
    stream.close()
  })

  it('continues after the last event a client has seen', async () => {
    await using stage = await ServiceStage.open(FAST)
    const first = await following(stage)
    await first.until(': connected')
    await stage.hook('one', 'session-start', { source: 'startup' })
    const seen = /id: (.+)\n/.exec(await first.until(/id: .+\n\n/))?.[1] ?? ''
    first.close()
    await stage.hook('two', 'session-start', { source: 'startup' })
    const second = await following(stage, { 'last-event-id': seen })
    const { json } = await stage.ask('GET', '/sessions/two')
    await second.until(String(json.session_id))
    second.close()
  })

  it('takes no more clients than it can serve, and ends with the service', async () => {
    const stage = await ServiceStage.open(FAST)
    const streams = [await following(stage), await following(stage)]
    for (const stream of streams) await stream.until(': connected')
    expect((await stage.ask('GET', '/events')).status).toBe(503)
    streams[0]?.close()
    const again = async (): Promise<void> => {
      const next = await following(stage)
      if (next.answer.statusCode !== 200) return again()
      streams.push(next)
    }
    await again()
    await stage[Symbol.asyncDispose]()
    await Promise.all(streams.map(({ ended }) => ended))
  })
})
