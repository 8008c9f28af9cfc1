import { execFileSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { FakeService, writeCard } from '../support/fake-service.ts'
import { expectInTime, folder, problems, runHook, SESSION, spooled } from './spawned-hook.ts'

const KEPT = ['session-start', 'user-prompt-submit', 'pre-compact', 'post-compact', 'stop', 'session-end'] as const
const EVENTS = [...KEPT, 'post-tool-use'] as const
const INPUT = { session_id: SESSION, transcript_path: '/tmp/t.jsonl', cwd: '/tmp', hook_event_name: 'Any' }
const WARNING = { id: '0190a0a0-0000-7000-8000-000000000001', text: 'Your window is 61% full.', for: 'agent' } as const
const NEWS = { id: '0190a0a0-0000-7000-8000-000000000002', text: 'The agent was warned.', for: 'person' } as const

describe('with a service', () => {
  it.each(EVENTS)(
    '%s is delivered once, with the token of its session, and nothing stays in the spool',
    async (event) => {
      const dir = folder()
      await using service = await FakeService.start(dir)
      const ended = await runHook(dir, event, { input: INPUT })
      expectInTime(ended)
      expect(ended.out).toBe('')
      expect(service.refused).toBe(0)
      expect(service.requests).toHaveLength(1)
      expect(service.requests[0]).toMatchObject({ v: 1, event, runtime: 'claude', payload: INPUT })
      expect(service.requests[0]?.commandId).toMatch(
        /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
      )
      expect(spooled(dir)).toEqual([])
      service.takeSpool()
      expect(service.taken.size).toBe(1)
    },
  )

  it.each(EVENTS)('%s of an agent that a run of ours works is nobody’s business', async (event) => {
    const dir = folder()
    await using service = await FakeService.start(dir)
    const ended = await runHook(dir, event, { input: INPUT, environment: { BATONPASS_RUN: '1' } })
    expectInTime(ended)
    expect([ended.out, service.requests, spooled(dir)]).toEqual(['', [], []])
  })

  it('says whose hook it is', async () => {
    const dir = folder()
    await using service = await FakeService.start(dir)
    expectInTime(await runHook(dir, 'pre-compact', { input: INPUT, flags: ['--runtime', 'codex'] }))
    expect(service.requests[0]?.runtime).toBe('codex')
  })

  it.each([
    ['session-start', 'SessionStart', 'SessionStart'],
    ['user-prompt-submit', 'UserPromptSubmit', 'UserPromptSubmit'],
    ['post-tool-use', 'PostToolUse', 'PostToolUse'],
    ['post-tool-use', 'PostToolBatch', 'PostToolBatch'],
    ['post-tool-use', 'SomethingElse', 'PostToolUse'],
  ])('%s (%s) tells the agent and the person, and says that it did', async (event, name, answered) => {
    const dir = folder()
    await using service = await FakeService.start(dir)
    service.answer = (post) => (post.event === 'ack' ? {} : { signals: [WARNING, NEWS] })
    const ended = await runHook(dir, event, { input: { ...INPUT, hook_event_name: name } })
    expectInTime(ended)
    expect(JSON.parse(ended.out)).toEqual({
      systemMessage: NEWS.text,
      hookSpecificOutput: { hookEventName: answered, additionalContext: WARNING.text },
    })
    service.takeSpool() // a busy machine may have left the acknowledgement there
    const acks = [...service.taken.values()].filter((post) => post.event === 'ack')
    expect(acks.map(({ payload }) => payload)).toEqual([{ session_id: SESSION, signals: [WARNING.id, NEWS.id] }])
    expect(service.events).toEqual([event, 'ack'])
  })

  it('stop tells the person alone: a word to the agent would make it work on', async () => {
    const dir = folder()
    await using service = await FakeService.start(dir)
    service.answer = (post) => (post.event === 'ack' ? {} : { signals: [WARNING, NEWS] })
    const ended = await runHook(dir, 'stop', { input: { ...INPUT, stop_hook_active: false } })
    expect(JSON.parse(ended.out)).toEqual({ systemMessage: NEWS.text })
    service.takeSpool()
    const acks = [...service.taken.values()].filter((post) => post.event === 'ack')
    expect(acks.map(({ payload }) => payload.signals)).toEqual([[NEWS.id]])
  })

  it.each(['pre-compact', 'post-compact', 'session-end'])(
    '%s prints and acknowledges nothing, whatever waits',
    async (event) => {
      const dir = folder()
      await using service = await FakeService.start(dir)
      service.answer = () => ({ signals: [WARNING, NEWS], inject: 'a document' })
      const ended = await runHook(dir, event, { input: INPUT })
      expectInTime(ended)
      expect(ended.out).toBe('')
      service.takeSpool()
      expect(service.events).toEqual([event])
    },
  )

  it('says nothing of what happens inside a subagent', async () => {
    const dir = folder()
    await using service = await FakeService.start(dir)
    service.answer = () => ({ signals: [WARNING] })
    for (const event of EVENTS) {
      const ended = await runHook(dir, event, { input: { ...INPUT, agent_id: 'a1' } })
      expect(ended).toMatchObject({ code: 0, out: '' })
    }
    expect(service.requests).toEqual([])
    expect(spooled(dir)).toEqual([])
  })

  it('leaves out what is long or secret', async () => {
    const dir = folder()
    await using service = await FakeService.start(dir)
    const long = `${'p'.repeat(3_999)}🎈and so on`
    const tool_calls = [
      { tool_name: 'Bash', tool_use_id: 't1', tool_input: { command: 'secret' }, tool_response: 'secret' },
    ]
    const input = {
      ...INPUT,
      prompt: long,
      tool_input: 'secret',
      tool_response: { a: 'secret' },
      tool_calls,
      last_assistant_message: 'secret',
    }
    expectInTime(await runHook(dir, 'post-tool-use', { input }))
    const { payload } = service.requests[0] ?? {}
    expect(JSON.stringify(payload)).not.toContain('secret')
    expect(payload).toEqual({
      ...INPUT,
      prompt: `${'p'.repeat(3_999)}…`,
      tool_calls: [{ tool_name: 'Bash', tool_use_id: 't1' }],
    })
  })
})

describe('the variables that say where Claude Code compacts', () => {
  const variablesSent = async (event: string, environment: Readonly<Record<string, string>>, input: object = INPUT) => {
    const dir = folder()
    await using service = await FakeService.start(dir)
    expectInTime(await runHook(dir, event, { input, environment }))
    return service.requests[0]?.payload.variables
  }
  const off = (path: string, autoCompactEnabled: unknown): void => {
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, JSON.stringify({ autoCompactEnabled }))
  }

  it.each(['session-start', 'user-prompt-submit'])('are sent with %s, and no others', async (event) => {
    const environment = { CLAUDE_CODE_AUTO_COMPACT_WINDOW: '150000', SOMETHING_ELSE: 'x' }
    expect(await variablesSent(event, environment)).toEqual({ CLAUDE_CODE_AUTO_COMPACT_WINDOW: '150000' })
    expect(await variablesSent(event, {})).toBeUndefined()
  })

  it('are not sent with other events', async () => {
    expect(await variablesSent('stop', { DISABLE_AUTO_COMPACT: '1' })).toBeUndefined()
  })

  it('are as if set where the last settings file that says something switches it off', async () => {
    const [home, cwd] = [folder(), folder()]
    const sent = () => variablesSent('session-start', { HOME: home }, { ...INPUT, cwd })
    off(join(home, '.claude/settings.json'), false)
    expect(await sent()).toEqual({ DISABLE_AUTO_COMPACT: '1' })
    off(join(cwd, '.claude/settings.json'), true)
    expect(await sent()).toBeUndefined()
    off(join(cwd, '.claude/settings.local.json'), false)
    expect(await sent()).toEqual({ DISABLE_AUTO_COMPACT: '1' })
    off(join(cwd, '.claude/settings.local.json'), 'no')
    expect(await sent()).toBeUndefined()
  })

  it('are sent though a pipe nobody writes to stands where settings belong', async () => {
    const cwd = folder()
    mkdirSync(join(cwd, '.claude'))
    execFileSync('mkfifo', [join(cwd, '.claude/settings.json')])
    const sent = await variablesSent('session-start', { DISABLE_COMPACT: '1' }, { ...INPUT, cwd })
    expect(sent).toEqual({ DISABLE_COMPACT: '1' })
  })
})

describe('what a session start injects', () => {
  it('is the service’s answer where it gave one', async () => {
    const dir = folder()
    await using service = await FakeService.start(dir)
    writeCard(dir, SESSION, { afterCompaction: { text: 'an old document' } })
    service.answer = () => ({ inject: 'the document' })
    const { out } = await runHook(dir, 'session-start', { input: { ...INPUT, source: 'compact' } })
    expect(JSON.parse(out)).toEqual({
      hookSpecificOutput: { hookEventName: 'SessionStart', additionalContext: 'the document' },
    })
  })

  it('is on the card where no service runs', async () => {
    const dir = folder()
    const notice = '7 of your messages were given back.'
    writeCard(dir, SESSION, { afterCompaction: { text: 'Goal: mend it.', notice } })
    const ended = await runHook(dir, 'session-start', { input: { ...INPUT, source: 'compact' } })
    expectInTime(ended)
    expect(JSON.parse(ended.out)).toEqual({
      systemMessage: notice,
      hookSpecificOutput: { hookEventName: 'SessionStart', additionalContext: 'Goal: mend it.' },
    })
    expect(spooled(dir).map(({ event }) => event)).toEqual(['session-start'])
  })

  it('is nothing where nothing waits, and only for a session start', async () => {
    const dir = folder()
    expect((await runHook(dir, 'session-start', { input: INPUT })).out).toBe('')
    writeCard(dir, SESSION, { afterCompaction: { text: 'Goal: mend it.' } })
    expect((await runHook(dir, 'user-prompt-submit', { input: { ...INPUT, source: 'compact' } })).out).toBe('')
  })

  it('fits into a pipe, however long it is', async () => {
    const dir = folder()
    writeCard(dir, SESSION, { afterCompaction: { text: 'é'.repeat(200_000) } })
    const { out } = await runHook(dir, 'session-start', { input: { ...INPUT, source: 'compact' } })
    expect(Buffer.byteLength(out)).toBeLessThanOrEqual(60_000)
    expect(JSON.parse(out).hookSpecificOutput.additionalContext).toMatch(/^é+\n\[cut/)
  })
})

describe('without a service', () => {
  it.each(KEPT)('%s waits in the spool and is delivered once by the next service', async (event) => {
    const dir = folder()
    expectInTime(await runHook(dir, event, { input: INPUT }))
    expect(spooled(dir)).toMatchObject([{ v: 1, event, runtime: 'claude', payload: INPUT }])
    await using service = await FakeService.start(dir)
    service.takeSpool()
    service.takeSpool()
    expect(service.events).toEqual([event])
    expect(spooled(dir)).toEqual([])
    expect(problems(dir)).toEqual([])
  })

  it('a tool’s use is not kept: it is asked for signals, and there is nobody to ask', async () => {
    const dir = folder()
    expectInTime(await runHook(dir, 'post-tool-use', { input: INPUT }))
    expect(spooled(dir)).toEqual([])
  })
})
