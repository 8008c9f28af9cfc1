import { type ChildProcess, spawn } from 'node:child_process'
import { createHmac, randomUUID } from 'node:crypto'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { request } from 'node:http'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { uuidV7Ids } from '../../src/adapters/system/uuid-v7-ids.ts'
import { openPglite } from '../../src/entry/postgres.ts'
import { program } from '../support/bundle.ts'
import { windowAt } from './stage.ts'

const folder = mkdtempSync(join(tmpdir(), 'killed-'))
const spool = join(folder, 'spool')
let child: ChildProcess | undefined

const begin = async (): Promise<number> => {
  const started = spawn(process.execPath, [await program(resolve('test/http/service-process.ts')), folder], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  child = started
  const line = await new Promise<string>((resolve, reject) => {
    started.stdout?.once('data', (part: Buffer) => resolve(part.toString()))
    started.once('exit', (code) => reject(new Error(`the service ended with ${code}`)))
  })
  return (JSON.parse(line) as { readonly port: number }).port
}

const kill = async (): Promise<void> => {
  const gone = new Promise((resolve) => child?.once('exit', resolve))
  child?.kill('SIGKILL')
  await gone
}

const event = (name: string, payload: object = {}, commandId: string = randomUUID()) => ({
  ...{ v: 1, commandId, at: new Date().toISOString(), event: name, runtime: 'claude' },
  payload: { session_id: 'killed', ...payload },
})

const post = (
  port: number,
  body: object,
): Promise<{ readonly outcome: string; readonly signals: readonly { readonly id: string }[] }> => {
  const master = readFileSync(join(folder, 'service.token'), 'utf8').trim()
  const token = createHmac('sha256', master).update('session:killed').digest('hex')
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  return new Promise((resolve, reject) => {
    const options = { port, host: '127.0.0.1', method: 'POST', path: '/hooks/events', headers, agent: false }
    const asking = request(options, (answer) => {
      let said = ''
      answer.on('data', (part: Buffer) => {
        said += part.toString()
      })
      answer.on('end', () => (answer.statusCode === 200 ? resolve(JSON.parse(said)) : reject(new Error(said))))
    })
    asking.on('error', reject)
    asking.end(JSON.stringify(body))
  })
}

const put = (body: object): void => {
  mkdirSync(spool, { recursive: true })
  writeFileSync(join(spool, `${uuidV7Ids.next()}.json`), JSON.stringify(body))
}

const waits = (): readonly string[] => readdirSync(spool).filter((name) => name.endsWith('.json'))

describe('a service that is killed', () => {
  afterAll(async () => {
    if (child?.exitCode === null && child.signalCode === null) await kill()
    rmSync(folder, { recursive: true, force: true, maxRetries: 10 })
  })

  it('loses nothing that it acknowledged, and takes from the spool once what it did not', async () => {
    const compaction = event('post-compact', { trigger: 'auto' })
    const start = event('session-start', { source: 'startup' })
    // Put aside while no service ran; delivered at its start, in order.
    put(start)
    put(event('user-prompt-submit', { prompt: 'Fix it' }))
    let port = await begin()
    expect(waits()).toEqual([])
    expect((await post(port, start)).outcome).toBe('repeated')
    await post(port, event('statusline', windowAt(70)))
    await kill()
    port = await begin()
    const told = await post(port, event('user-prompt-submit'))
    expect(told.signals).toHaveLength(1)
    expect((await post(port, compaction)).outcome).toBe('compaction_logged')
    await kill()
    // The client was killed as well before it could take its file away.
    put(compaction)
    put(event('ack', { signals: told.signals.map(({ id }) => id) }))
    put(event('post-compact', { session_id: '../../etc' }))
    port = await begin()
    expect(waits()).toEqual([])
    expect(readdirSync(join(spool, 'rejected'))).toHaveLength(1)
    await post(port, event('statusline', windowAt(20)))
    await kill()
    await using store = await openPglite({ dataDir: folder })
    const [session, ...others] = await store.sessions.findByProviderSession('killed')
    expect(others).toEqual([])
    if (session === undefined) throw new Error('the session was lost')
    const monitor = await store.monitors.find(session.id)
    expect(monitor).toMatchObject({ cycle: 2, reading: { state: 'percentage', usedPercent: 20 } })
    const { items } = await store.signals.listFor(session.id, {})
    expect(items.map(({ kind, status }) => `${kind} ${status}`)).toEqual(['milestone withdrawn', 'compaction queued'])
    const conversation = await store.conversations.find(session.conversationId)
    expect(conversation?.asked?.prompt).toBe('Fix it')
  })
})
