import { randomUUID } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { agentSessionId } from '../../src/domain/kernel/ids.ts'
import { ServiceStage, windowAt } from './stage.ts'

describe('the service', () => {
  let stage: ServiceStage
  beforeAll(async () => {
    stage = await ServiceStage.open()
  })
  afterAll(async () => stage[Symbol.asyncDispose]())

  const registered = async (more: object = {}): Promise<{ readonly id: string; readonly session: string }> => {
    const id = `p-${randomUUID()}`
    const body = { provider_session_id: id, runtime: 'claude', cwd: '/work', ...more }
    const { status, json } = await stage.ask('POST', '/sessions', { body })
    expect(status).toBe(201)
    return { id, session: String(json.session_id) }
  }
  const turn = {
    messages: [
      { role: 'user', text: 'Hi' },
      { role: 'assistant', text: 'Hello' },
    ],
  }

  it('says that it runs, and to its owner which process that is', async () => {
    const { status, json } = await stage.ask('GET', '/health')
    expect([status, json]).toEqual([200, { status: 'ok', program: expect.any(String), pid: process.pid }])
    const said = JSON.parse(readFileSync(join(stage.folder, 'service.json'), 'utf8'))
    expect(said).toMatchObject({ v: 2, pid: process.pid, address: { host: '127.0.0.1', port: stage.port } })
    expect(said.socket).toMatch(/^service\/service-[0-9a-f]{8}\.sock$/)
  })

  it('tells a stranger nothing but that somebody answers', async () => {
    for (const token of [null, 'ab'.repeat(32), stage.tokenOf('x')])
      expect((await stage.ask('GET', '/health', { token })).text).toBe('{"status":"ok"}')
    for (const path of ['/openapi.json', '/sessions', '/events', '/nowhere']) {
      const { status, text } = await stage.ask('GET', path, { token: null })
      expect([path, status]).toEqual([path, path === '/nowhere' ? 404 : 401])
      expect(text).not.toMatch(/\d\.\d\.\d|pid|\/tmp/)
    }
  })

  it('takes the events of hooks, and answers with what to say', async () => {
    const id = `p-${randomUUID()}`
    const started = await stage.hook(id, 'session-start', { source: 'startup', cwd: '/work' })
    expect(started.json).toEqual({
      outcome: 'ok',
      session_id: expect.any(String),
      signals: [],
      inject: null,
      notice: null,
    })
    await stage.hook(id, 'statusline', { ...windowAt(70), cost: { total_cost_usd: 1.5 } })
    const { json } = await stage.hook(id, 'user-prompt-submit', { prompt: 'Go on' })
    expect(json.signals).toMatchObject([{ kind: 'milestone', milestone: 'critical', delivery: 'urgent', for: 'agent' }])
    const card = JSON.parse(readFileSync(join(stage.folder, 'sessions', `${id}.json`), 'utf8'))
    expect(card).toMatchObject({
      level: { state: 'known', ratio: 140_000 / 167_000, windowTokens: 167_000 },
      costUsd: 1.5,
    })
  })

  it('answers an event of an unknown session, and creates nothing', async () => {
    const id = `p-${randomUUID()}`
    const { status, json } = await stage.hook(id, 'stop')
    expect([status, json.outcome, json.session_id]).toEqual([200, 'unknown_session', null])
    expect((await stage.ask('GET', `/sessions/${id}`)).status).toBe(404)
  })

  it('takes an event once, however often it is delivered', async () => {
    const { id, session } = await registered()
    await stage.hook(id, 'statusline', windowAt(40))
    const commandId = randomUUID()
    const outcomes = []
    for (const _ of [1, 2, 3])
      outcomes.push((await stage.hook(id, 'post-compact', { trigger: 'auto' }, { commandId })).json.outcome)
    expect(outcomes).toEqual(['compaction_logged', 'repeated', 'repeated'])
    expect((await stage.store.monitors.find(agentSessionId(session)))?.cycle).toBe(2)
  })

  it('takes samples and news of windows', async () => {
    const { id } = await registered()
    const at = (second: number) => `2026-11-17T10:00:${String(second).padStart(2, '0')}Z`
    const use = async (body: object) =>
      (await stage.ask('POST', '/hooks/context-usage', { body: { session_id: id, ...body }, token: stage.tokenOf(id) }))
        .json.status
    expect(await use({ producer_time: at(10), ...windowAt(40) })).toBe('ok')
    expect(await use({ producer_time: at(5), ...windowAt(90) })).toBe('stale_sample')
    expect(await use({ producer_time: at(11), event: 'compaction' })).toBe('compaction_logged')
    expect(await use({ producer_time: at(12), event: 'compaction_complete' })).toBe('ok')
    expect(await use({ event: 'context_reset' })).toBe('flags_reset')
    await stage.ask('DELETE', `/sessions/${id}/monitor`)
    expect(await use(windowAt(95))).toBe('not_registered')
    const unknown = { session_id: 'nobody', event: 'compaction' }
    expect((await stage.ask('POST', '/hooks/context-usage', { body: unknown })).json.status).toBe('unknown_session')
  })

  it('registers, lists and shows sessions', async () => {
    const { id, session } = await registered({ milestones: [0.3, 0.4, 0.8], model: 'claude-opus-4-6' })
    const again = await stage.ask('POST', '/sessions', { body: { provider_session_id: id, runtime: 'claude' } })
    expect(again.json.session_id).toBe(session)
    const list = await stage.ask('GET', '/sessions?limit=1')
    expect(list.json).toMatchObject({ sessions: [{ session_id: session }], next: expect.any(String) })
    for (const name of [id, session]) {
      const { json } = await stage.ask('GET', `/sessions/${name}`)
      expect(json).toMatchObject({
        session_id: session,
        provider_session_id: id,
        level: { state: 'unknown' },
        monitor: {
          enabled: true,
          milestones: [{ name: 'warning', at: 0.3 }, { at: 0.4 }, { name: 'restart', at: 0.8 }],
        },
        last_handoff_path: null,
        last_handoff: null,
      })
    }
    const lost = { provider_session_id: `p-${randomUUID()}`, runtime: 'codex', parent_session_id: randomUUID() }
    expect((await stage.ask('POST', '/sessions', { body: lost })).status).toBe(422)
  })

  it('takes a user’s text for a person’s with the master token only: the token of a session may be its agent’s', async () => {
    const { id, session } = await registered()
    for (const token of [{ token: stage.tokenOf(id) }, {}])
      await stage.ask('POST', `/sessions/${session}/turns`, { body: { turns: [turn] }, ...token })
    const { items } = await stage.store.messages.listSessionMessages(agentSessionId(session), {})
    expect(items.map(({ role, origin }) => [role, origin])).toEqual([
      ['user', 'unknown'],
      ['assistant', 'runtime'],
      ['user', 'person'],
      ['assistant', 'runtime'],
    ])
  })

  it('records turns, and a handoff that the agent asks for', async () => {
    const { id, session } = await registered()
    const early = await stage.ask('POST', `/sessions/${id}/handoff`, { body: { document: 'Nothing yet.' } })
    expect([early.status, early.json.error?.code]).toEqual([409, 'session.no_turns'])
    const usage = { prompt_tokens: 100_000, output_tokens: 10 }
    const body = { turns: [{ ...turn, usage, window_tokens: 200_000 }], command_id: randomUUID() }
    const recorded = await stage.ask('POST', `/sessions/${session}/turns`, { body, token: stage.tokenOf(id) })
    expect(recorded.json).toEqual({ session_id: session, turn_ids: [expect.any(String)], turns: 1 })
    const again = await stage.ask('POST', `/sessions/${session}/turns`, { body, token: stage.tokenOf(id) })
    expect(again.json.turn_ids).toEqual(recorded.json.turn_ids)
    const asked = { document: '# Half done', reason: 'The window is full', target_agent: 'reviewer' }
    const handed = await stage.ask('POST', `/sessions/${id}/handoff`, { body: asked, token: stage.tokenOf(id) })
    expect([handed.status, handed.json.kind]).toEqual([201, 'agent_transfer'])
    expect(readFileSync(String(handed.json.path), 'utf8')).toBe('# Half done')
    const { json } = await stage.ask('GET', `/sessions/${id}`)
    expect(json).toMatchObject({
      state: 'paused',
      last_handoff_path: handed.json.path,
      last_handoff: { handoff_id: handed.json.handoff_id, status: 'initiated', document: '# Half done' },
    })
  })

  it('watches a window with milestones and a target', async () => {
    const { id: parent, session: parentSession } = await registered()
    const { id } = await registered({ parent_session_id: parentSession })
    const { id: stranger } = await registered()
    const put = async (name: string, body: object) =>
      (await stage.ask('PUT', `/sessions/${name}/monitor`, { body })).status
    expect(await put(id, { milestones: [0.2, { name: 'critical', at: 0.4 }], notify: 'parent' })).toBe(200)
    for (const notify of ['self', id, parentSession, parent]) expect(await put(id, { notify })).toBe(200)
    expect(await put(id, { notify: stranger })).toBe(403)
    expect(await put(id, { notify: 'nobody' })).toBe(422)
    expect(await put(parent, { notify: 'parent' })).toBe(422)
    expect(await put('nobody', { notify: 'self' })).toBe(404)
    expect(await put(id, { milestones: [0.5, 0.4] })).toBe(400)
    expect(await put(id, { milestones: [] })).toBe(400)
    expect((await stage.ask('GET', `/sessions/${id}`)).json.monitor?.milestones).toMatchObject([
      { at: 0.2 },
      { at: 0.4 },
    ])
    const off = await stage.ask('DELETE', `/sessions/${id}/monitor`)
    expect([off.status, off.json.enabled]).toEqual([200, false])
  })

  it('tells only whom the watch names', async () => {
    const { id: parent, session: parentSession } = await registered()
    const waiting = async (name: string) => (await stage.ask('GET', `/sessions/${name}/signals`)).json.signals
    const { id: quiet } = await registered({ parent_session_id: parentSession })
    await stage.ask('PUT', `/sessions/${quiet}/monitor`, { body: { notify: 'self' } })
    await stage.hook(quiet, 'statusline', windowAt(55))
    expect(await waiting(parent)).toEqual([])
    expect(await waiting(quiet)).toHaveLength(1)
    const { id: loud } = await registered({ parent_session_id: parentSession })
    await stage.ask('PUT', `/sessions/${loud}/monitor`, { body: { notify: 'parent' } })
    await stage.hook(loud, 'statusline', windowAt(55))
    expect(await waiting(loud)).toEqual([])
  })

  it('lists and acknowledges signals', async () => {
    const { id } = await registered()
    await stage.hook(id, 'statusline', windowAt(55))
    const token = stage.tokenOf(id)
    const { json } = await stage.ask('GET', `/sessions/${id}/signals`, { token })
    const ids = (json.signals as unknown as readonly { readonly id: string }[]).map((signal) => signal.id)
    expect(ids).toHaveLength(1)
    const ack = async () =>
      (await stage.ask('POST', `/sessions/${id}/signals/ack`, { body: { signals: ids }, token })).json
    expect([await ack(), await ack()]).toEqual([{ acknowledged: 1 }, { acknowledged: 0 }])
    expect((await stage.ask('GET', `/sessions/${id}/signals`)).json.signals).toEqual([])
  })

  it('has nothing under other names and methods', async () => {
    for (const [method, path] of [
      ['GET', '/'],
      ['POST', '/health'],
      ['GET', '/sessions/a/b'],
      ['PATCH', '/sessions'],
    ] as const)
      expect((await stage.ask(method, path)).json.error?.code).toBe('route.unknown')
  })

  it('is gone from its file once it has ended', async () => {
    const other = await ServiceStage.open()
    const file = join(other.folder, 'service.json')
    expect(existsSync(file)).toBe(true)
    await other.service.stop()
    expect(existsSync(file)).toBe(false)
    await other[Symbol.asyncDispose]()
  })
})
