import { randomUUID } from 'node:crypto'
import { expect, it } from 'vitest'
import { agentSessionId } from '../../src/domain/kernel/ids.ts'
import { ServiceStage } from './stage.ts'

const BY_HAND = { byHand: true, by_hand: true, 'by-hand': true }

it('no request of an agent to the service, and no hook, acts by hand', async () => {
  await using stage = await ServiceStage.open()
  const id = `p-${randomUUID()}`
  const registration = { provider_session_id: id, runtime: 'claude', cwd: '/work' }
  expect((await stage.ask('POST', '/sessions', { body: { ...registration, ...BY_HAND } })).status).toBe(400)
  const { json } = await stage.ask('POST', '/sessions', { body: registration })
  const session = agentSessionId(String(json.session_id))
  const token = stage.tokenOf(id)
  const said = { role: 'assistant', text: 'Hello' }
  const turns = { turns: [{ messages: [said] }] }
  const post = (path: string, body: object) => stage.ask('POST', `/sessions/${id}/${path}`, { body, token })
  expect((await post('turns', { ...turns, ...BY_HAND })).status).toBe(400)
  expect((await post('turns', turns)).status).toBe(200)
  const asked = { document: '# Half done', target_agent: 'reviewer' }
  expect((await post('handoff', { ...asked, ...BY_HAND })).status).toBe(400)
  await stage.hook(id, 'user-prompt-submit', { prompt: 'Go on', ...BY_HAND })
  await stage.ask('POST', '/hooks/context-usage', { body: { session_id: id, event: 'compaction', ...BY_HAND }, token })
  expect((await post('handoff', asked)).status).toBe(201)
  await stage.hook(id, 'session-end', { reason: 'clear', ...BY_HAND })
  const { conversationId } = (await stage.store.sessions.find(session)) ?? expect.fail('no session')
  const trail = (await stage.store.audit.list(conversationId, { limit: 1_000 })).items
  expect(trail.map(({ event }) => event.type)).toContain('handoff.initiated')
  expect(trail.filter(({ event }) => event.byHand === true)).toEqual([])
})
