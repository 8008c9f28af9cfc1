import { randomUUID } from 'node:crypto'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { AlreadyServed, serve } from '../../src/main/serve.ts'
import { ServiceStage } from './stage.ts'

describe('a service that nobody uses', () => {
  it('ends by itself, once its spool is empty', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'idle-'))
    const stage = await ServiceStage.open({ folder, idleMs: 200 })
    const event = { v: 1, commandId: randomUUID(), event: 'session-start', runtime: 'claude' }
    const file = join(folder, 'spool', `${randomUUID()}.json`)
    writeFileSync(file, JSON.stringify({ ...event, payload: { session_id: 'late', source: 'startup' } }))
    await stage.service.ended
    expect(existsSync(file)).toBe(false)
    expect(await stage.store.sessions.findByProviderSession('late')).toHaveLength(1)
    expect(existsSync(join(folder, 'service.json'))).toBe(false)
    rmSync(folder, { recursive: true, force: true, maxRetries: 10 })
  })

  it('leaves its folder to the next one, and its token with it', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'next-'))
    const first = await ServiceStage.open({ folder })
    const token = first.master
    await expect(serve({ folder, store: 'memory' })).rejects.toBeInstanceOf(AlreadyServed)
    await first.service.stop()
    await using second = await ServiceStage.open({ folder })
    expect(second.master).toBe(token)
  })
})
