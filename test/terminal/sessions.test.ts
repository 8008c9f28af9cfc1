import { randomUUID } from 'node:crypto'
import { readFileSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { Stage, statusLine } from './stage.ts'

describe('a terminal session', () => {
  it('is registered by its start, with a conversation of its own', async () => {
    await using stage = new Stage()
    const answer = await stage.start('startup', { model: 'claude-opus-4-6' })
    expect(answer.outcome).toBe('ok')
    const session = await stage.session()
    expect(answer.sessionId).toBe(session.id)
    expect(session).toMatchObject({ agentName: 'claude-code', backend: 'claude_code', state: 'active', epoch: 1 })
    const conversation = await stage.store.conversations.find(session.conversationId)
    expect(conversation?.externalKey).toBe(`claude:${stage.id}`)
    expect(conversation?.workspace).toEqual({ workingDirectory: stage.workspace })
    expect((await stage.store.monitors.find(session.id))?.policy).toBe('advise')
  })

  it('is found again, however often it starts and after the service has', async () => {
    await using stage = new Stage()
    const first = await stage.start()
    await stage.start('resume')
    await stage.restart()
    const again = await stage.start('resume')
    expect(again.sessionId).toBe(first.sessionId)
    expect(await stage.sessions()).toHaveLength(1)
  })

  it.each(['statusline', 'user-prompt-submit', 'stop', 'pre-compact', 'session-end', 'ack'] as const)(
    'is not made by an event of one that nobody knows: %s',
    async (event) => {
      await using stage = new Stage()
      expect(await stage.hook(event, { raw: statusLine(90) })).toEqual({ outcome: 'unknown_session', signals: [] })
      expect(await stage.sessions()).toEqual([])
      expect(() => stage.card()).toThrow()
    },
  )

  it('keeps its holder over a restart of the service, and takes it over when that is lost', async () => {
    await using stage = new Stage()
    await stage.start()
    stage.transcript.prompts('Fix it')
    stage.transcript.answers('Done.', 20_000)
    await stage.restart()
    await stage.hook('stop')
    expect((await stage.session()).progress.turns).toBe(1)
    await stage.restart()
    rmSync(join(stage.folder, 'kept', `${stage.id}.json`))
    stage.transcript.prompts('More')
    stage.transcript.answers('Done too.', 21_000)
    await stage.hook('stop')
    expect((await stage.session()).progress.turns).toBe(2)
  })

  it('has files that only their owner can read', async () => {
    await using stage = new Stage()
    await stage.start()
    for (const place of ['sessions', 'kept']) {
      expect(statSync(join(stage.folder, place, `${stage.id}.json`)).mode & 0o777).toBe(0o600)
      expect(statSync(join(stage.folder, place)).mode & 0o777).toBe(0o700)
    }
    const kept = JSON.parse(readFileSync(join(stage.folder, 'kept', `${stage.id}.json`), 'utf8'))
    expect(readFileSync(join(stage.folder, 'sessions', `${stage.id}.json`), 'utf8')).not.toContain(kept.holder)
  })

  it('ends with its terminal, and begins the next epoch when it is resumed', async () => {
    await using stage = new Stage()
    await stage.start()
    await stage.hook('session-end', { reason: 'prompt_input_exit' })
    expect((await stage.session()).state).toBe('completed')
    await stage.start('resume')
    const [first, second] = await stage.sessions()
    expect(second).toMatchObject({ state: 'active', epoch: 2, conversationId: first?.conversationId })
  })

  it('does not end while a handoff is open, however its terminal ends', async () => {
    await using stage = new Stage()
    const { requests } = await stage.open()
    await stage.start()
    stage.transcript.prompts('Fix it')
    stage.transcript.answers('Half done.', 150_000)
    const asked = await requests.handoff(stage.id, { document: 'Half is done.', targetAgent: 'reviewer' })
    expect(asked.ok).toBe(true)
    await stage.hook('session-end', { reason: 'clear' })
    expect((await stage.session()).state).toBe('paused')
    await stage.hook('session-end', { reason: 'logout' })
    expect((await stage.session()).state).toBe('paused')
  })

  it('is another conversation after a clear, and is armed anew when its name stays', async () => {
    await using stage = new Stage()
    await stage.start()
    await stage.draws(60)
    const next = `p-${randomUUID()}`
    await stage.hook('session-end', { reason: 'clear' })
    await stage.hook('session-start', { source: 'clear', providerSessionId: next })
    const [old, fresh] = [await stage.session(), (await stage.sessions(next))[0]]
    expect(old.state).toBe('completed')
    expect(fresh?.conversationId).not.toBe(old.conversationId)
    await stage.draws(60, { providerSessionId: next })
    const answer = await stage.hook('session-start', { source: 'clear', providerSessionId: next })
    expect(answer.outcome).toBe('flags_reset')
    expect(answer.signals).toEqual([])
    expect((await stage.store.monitors.find(fresh?.id as never))?.latchedAt).toBe(0)
  })

  it('that a runner works is read, and nothing of it is taken', async () => {
    await using stage = new Stage()
    const { HandoffService, systemClock, uuidV7Ids } = await import('../../src/entry/container.ts')
    const handoffs = new HandoffService({ store: stage.store, clock: systemClock, ids: uuidV7Ids })
    const opened = await handoffs.openConversation({ originalTask: 'Run it', externalKey: 'job-1' })
    if (!opened.ok) throw new Error('not opened')
    const agent = { conversationId: opened.value.conversation.id, agentName: 'claude', backend: 'claude_code' }
    const started = await handoffs.startSession({ ...agent, providerSessionId: stage.id, leaseMs: 60_000 })
    if (!started.ok) throw new Error('not started')
    stage.transcript.prompts('Fix it')
    stage.transcript.answers('Done.', 20_000)
    expect((await stage.start()).sessionId).toBe(started.value.session.id)
    expect((await stage.draws(55)).outcome).toBe('ok')
    await stage.hook('stop')
    await stage.hook('session-end', { reason: 'other' })
    expect(await stage.session()).toMatchObject({ state: 'active', progress: { turns: 0 } })
    expect(await stage.store.sessions.isHeldBy(started.value.session.id, started.value.holder)).toBe(true)
  })
})
