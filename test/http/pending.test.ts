import { randomUUID } from 'node:crypto'
import { mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ServiceStage } from './stage.ts'

describe('a document for the next session, over HTTP', () => {
  let stage: ServiceStage
  beforeAll(async () => {
    stage = await ServiceStage.open()
  })
  afterAll(async () => stage[Symbol.asyncDispose]())

  const TURN = {
    messages: [
      { role: 'user', text: 'Never touch the migrations' },
      { role: 'assistant', text: 'I will not.' },
    ],
  }
  const working = async () => {
    const cwd = realpathSync(mkdtempSync(join(tmpdir(), 'workspace-')))
    const id = `p-${randomUUID()}`
    await stage.hook(id, 'session-start', { source: 'startup', cwd })
    await stage.ask('POST', `/sessions/${id}/turns`, { body: { turns: [TURN] } })
    const leave = (body: object, token = stage.tokenOf(id)) =>
      stage.ask('POST', `/sessions/${id}/handoff`, { body, token })
    const remove = () => rmSync(cwd, { recursive: true, force: true, maxRetries: 10 })
    return { id, cwd, leave, [Symbol.dispose]: remove }
  }

  it('waits, is shown, given to the next session, and withdrawn', async () => {
    using blue = await working()
    const { status, json } = await blue.leave({ document: 'Half is done.', reason: 'Full' })
    expect(status).toBe(201)
    const pending = {
      document_id: expect.any(String),
      workspace: blue.cwd,
      path: json.path,
      written_at: expect.any(String),
      expires_at: expect.any(String),
    }
    expect(json).toEqual({
      handoff_id: null,
      kind: 'context_restart',
      status: 'pending',
      path: expect.any(String),
      pending_document: pending,
      replaced: false,
    })
    expect(readFileSync(String(json.path), 'utf8')).toBe('Half is done.')
    const shown = await stage.ask('GET', `/sessions/${blue.id}`)
    expect(shown.json).toMatchObject({ state: 'active', pending_document: pending, last_handoff_path: json.path })
    const next = await stage.hook(`p-${randomUUID()}`, 'session-start', { source: 'startup', cwd: blue.cwd })
    expect(next.json.session_id).toBeNull()
    expect(String(next.json.inject)).toContain('Never touch the migrations')
    expect((await blue.leave({ document: 'More is done.' })).json.replaced).toBe(true)
    const withdrawn = await stage.ask('DELETE', `/sessions/${blue.id}/handoff`, { token: stage.tokenOf(blue.id) })
    expect(withdrawn.status).toBe(200)
    const again = await stage.ask('DELETE', `/sessions/${blue.id}/handoff`)
    expect([again.status, again.json.error?.code]).toEqual([404, 'document.not_pending'])
  })

  it('is stored once, however often the same request is sent', async () => {
    using blue = await working()
    const body = { document: 'Half is done.', command_id: randomUUID() }
    const [first, second] = [await blue.leave(body), await blue.leave(body)]
    expect(second.json).toEqual(first.json)
    expect(first.json.pending_document?.document_id).toBe(body.command_id)
  })

  it('of a megabyte is taken, and a longer one refused', async () => {
    using blue = await working()
    expect((await blue.leave({ document: '\0'.repeat(1_048_576) })).status).toBe(201)
    const long = await blue.leave({ document: 'x'.repeat(1_048_577) })
    expect([long.status, long.json.error?.code]).toEqual([400, 'input.invalid'])
    const larger = await blue.leave({ document: 'x'.repeat(9_000_000) })
    expect([larger.status, larger.json.error?.code]).toEqual([413, 'body.too_large'])
  })

  it('is refused without words, and to the token of another session', async () => {
    using blue = await working()
    for (const body of [{}, { document: '' }, { document: ' \n ' }])
      expect((await blue.leave(body)).json.error?.code).toBe('input.invalid')
    expect((await blue.leave({ document: 'x' }, stage.tokenOf('another'))).status).toBe(403)
    const stolen = await stage.ask('DELETE', `/sessions/${blue.id}/handoff`, { token: stage.tokenOf('another') })
    expect(stolen.status).toBe(403)
  })

  it('is left in the workspace whose sessions are listed', async () => {
    using blue = await working()
    const listed = async (folder: string) => {
      const { json } = await stage.ask('GET', `/sessions?working_in=${encodeURIComponent(folder)}`)
      return (json.sessions as unknown as { readonly provider_session_id: string }[]).map(
        (one) => one.provider_session_id,
      )
    }
    expect(await listed(blue.cwd)).toEqual([blue.id])
    expect(await listed(tmpdir())).toEqual([])
    expect(await listed('/nowhere/at/all')).toEqual([])
    await stage.hook(blue.id, 'session-end', { reason: 'other' })
    expect(await listed(blue.cwd)).toEqual([])
  })

  it('is finished from the spool by a service that starts the next morning', async () => {
    using blue = await working()
    await blue.leave({ document: 'Half is done.' })
    await stage.hook(blue.id, 'session-end', { reason: 'logout' })
    const green = `p-${randomUUID()}`
    const { mkdirSync, writeFileSync } = await import('node:fs')
    const project = join(stage.home, '.claude', 'projects', '-work')
    mkdirSync(project, { recursive: true })
    const transcript_path = join(project, `${green}.jsonl`)
    const usage = { input_tokens: 2, cache_read_input_tokens: 9_998, output_tokens: 4 }
    const lines = [
      { type: 'user', message: { role: 'user', content: 'Good morning' } },
      {
        type: 'assistant',
        message: { id: 'm1', role: 'assistant', content: [{ type: 'text', text: 'Morning.' }], usage },
      },
    ]
    writeFileSync(transcript_path, lines.map((line) => `${JSON.stringify({ ...line, sessionId: green })}\n`).join(''))
    const { uuidV7Ids } = await import('../../src/adapters/system/uuid-v7-ids.ts')
    const spools = (event: string, payload: object): void => {
      const commandId = uuidV7Ids.next()
      const common = { session_id: green, transcript_path, cwd: blue.cwd }
      const body = {
        v: 1,
        commandId,
        at: new Date().toISOString(),
        event,
        runtime: 'claude',
        payload: { ...common, ...payload },
      }
      writeFileSync(join(stage.folder, 'spool', `${commandId}.json`), JSON.stringify(body))
    }
    await stage.service.stop()
    spools('session-start', { source: 'startup' })
    spools('user-prompt-submit', { prompt: 'Good morning' })
    spools('stop', {})
    const { serve } = await import('../../src/main/serve.ts')
    const service = await serve({ store: stage.store, folder: stage.folder, environment: { HOME: stage.home } })
    const [source] = await stage.store.sessions.findByProviderSession(blue.id)
    const [target] = await stage.store.sessions.findByProviderSession(green)
    await service.stop()
    expect(source?.state).toBe('handed_off')
    expect(target).toMatchObject({ epoch: 2, conversationId: source?.conversationId, progress: { turns: 1 } })
  })
})
