import { describe, expect, it } from 'vitest'
import { describeRunEvent } from '../../src/adapters/cli/render/run-lines.ts'
import type { HookSettings } from '../../src/entry/hooks.ts'
import { createBatonpass, type RunEvent } from '../../src/entry/index.ts'
import type { LogFields } from '../../src/ports/system/logger.ts'
import { ENDS, FILLS, play, script } from './played.ts'

const shell = (command: string, more: Partial<HookSettings> = {}): HookSettings =>
  ({
    type: 'shell',
    moment: 'after_run',
    name: 'notify',
    command,
    shouldContinueOnError: true,
    timeoutMs: 60_000,
    ...more,
  }) as HookSettings

const called = async (hook: HookSettings) => {
  const logged: { readonly level: string; readonly message: string; readonly fields: LogFields }[] = []
  const log = (level: string) => (fields: LogFields, message: string) => void logged.push({ level, message, fields })
  const logger = { debug: log('debug'), info: log('info'), warn: log('warn'), error: log('error') }
  const redact = (text: string): string => text.replaceAll('s3cret', '***')
  await using batonpass = await createBatonpass({ store: 'memory', logger, redact, runs: { hooks: [hook] } })
  const { events } = await play(batonpass, script([{ turns: ENDS }]))
  const [event] = events.filter((one) => one.type === 'hook:called')
  if (event === undefined) throw new Error('No hook was called')
  return { event: event as Extract<RunEvent, { type: 'hook:called' }>, logged }
}

describe('why a hook failed', () => {
  it.each([
    ['its exit status', shell('echo one >&2; echo "no s3cret\\033[31m disk" >&2; exit 3'), 'hook.exit', /exit code 3/],
    ['its signal', shell('echo "no s3cret\\033[31m disk" >&2; kill -9 $$'), 'hook.exit', /SIGKILL/],
    [
      'that its time was up',
      shell('echo "no s3cret\\033[31m disk" >&2; sleep 60', { timeoutMs: 300 }),
      'hook.timeout',
      /./,
    ],
  ])('is said by the event, the line and the log: %s', async (_, hook, code, how) => {
    const { event, logged } = await called(hook)
    expect(event).toMatchObject({ ok: false, error: { code, lastLine: 'no ***\\u{1b}[31m disk' } })
    expect(event.error?.message).toMatch(how)
    const line = describeRunEvent(event)
    expect(line).toContain(`failed: ${event.error?.message} It said last: "no ***`)
    const warned = logged.find(({ level, fields }) => level === 'warn' && fields.event === 'hook:called')
    expect(warned?.message).toContain(`hook notify has failed: ${event.error?.message}`)
    expect(warned?.fields).toMatchObject({ error: { code } })
    expect(JSON.stringify([event, logged])).not.toContain('s3cret')
  })

  it('has no last line where nothing was written, and a long one is cut', async () => {
    expect((await called(shell('exit 1'))).event.error).toMatchObject({ code: 'hook.exit', lastLine: null })
    const long = await called(shell('head -c 5000 /dev/zero | tr "\\0" x >&2; exit 1'))
    expect(long.event.error?.lastLine?.length).toBeLessThanOrEqual(301)
  })

  it('is null for one that ended well, whose error output is in the log', async () => {
    const { event, logged } = await called(shell('echo "two lines\\nof s3cret" >&2'))
    expect(event).toMatchObject({ ok: true, error: null })
    expect(describeRunEvent(event)).toBe('hook notify at after_run: ok')
    expect(logged.find(({ message }) => message.includes('standard error'))).toMatchObject({
      level: 'info',
      fields: { hook: 'notify', moment: 'after_run', errorOutput: 'two lines\nof ***' },
    })
  })
})

describe('the runtime’s own id of a session', () => {
  it('is in every event from when it is known, and belongs to the session of the event', async () => {
    await using batonpass = await createBatonpass({ store: 'memory' })
    const windows = [{ turns: FILLS, checkpoint: 'On.' }, { turns: ENDS }]
    const { events, summary } = await play(batonpass, script(windows))
    const { items } = await batonpass.history.listSessions({ conversationId: summary.conversationId }, { limit: 10 })
    const known = new Map(items.map(({ id, providerSessionId }) => [String(id), providerSessionId]))
    expect(known.size).toBe(2)
    expect(events[0]).toMatchObject({ type: 'session:start', providerSessionId: null })
    const told = events.filter(({ type }) => ['turn:recorded', 'session:end'].includes(type))
    expect(told.length).toBeGreaterThan(4)
    for (const event of told)
      expect(event).toMatchObject({ providerSessionId: known.get('sessionId' in event ? String(event.sessionId) : '') })
    expect(events.at(-1)).toMatchObject({ type: 'run:end', providerSessionId: [...known.values()].at(-1) })
  })
})
