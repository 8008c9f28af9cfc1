import { describe, expect, it, vi } from 'vitest'
import { checked } from '../../src/adapters/http/read-body.ts'
import { ServiceStage } from './stage.ts'

// Reads as ever, and counts.
vi.mock('../../src/adapters/http/read-body.ts', { spy: true })

describe('a body that is posted', () => {
  it('is read once, though the token is checked against the session that it names', async () => {
    await using stage = await ServiceStage.open()
    const readings = vi.mocked(checked).mock.calls
    readings.length = 0
    expect((await stage.hook('abc', 'session-start', { source: 'startup' })).status).toBe(200)
    expect(readings).toHaveLength(1)
    const body = { session_id: 'abc', event: 'compaction' }
    expect((await stage.ask('POST', '/hooks/context-usage', { body })).status).toBe(200)
    expect(readings.map(([, json]) => json)).toMatchObject([{ event: 'session-start' }, body])
  })

  it('says nothing about its fields to a session whose token does not open it', async () => {
    await using stage = await ServiceStage.open()
    await stage.hook('abc', 'session-start', { source: 'startup' })
    const token = stage.tokenOf('def')
    const refused = await stage.ask('POST', '/sessions/abc/turns', { token, body: { turns: 'none' } })
    expect([refused.status, refused.json.error]).toMatchObject([403, { code: 'token.wrong' }])
  })
})
