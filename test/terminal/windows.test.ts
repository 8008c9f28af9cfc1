import { randomUUID } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { Stage, statusLine } from './stage.ts'

const monitorOf = async (stage: Stage) => {
  const monitor = await stage.store.monitors.find((await stage.session()).id)
  if (monitor === undefined) throw new Error('there is no monitor')
  return monitor
}

const snapshotsOf = async (stage: Stage) =>
  (await stage.store.snapshots.listForSession((await stage.session()).id, {})).items.map(({ type }) => type)

describe('a status line', () => {
  it('before the first request leaves nothing behind', async () => {
    await using stage = new Stage()
    await stage.start()
    const before = await monitorOf(stage)
    expect((await stage.draws(null)).outcome).toBe('ok')
    expect(await monitorOf(stage)).toEqual(before)
    expect(stage.card().level).toEqual({ state: 'unknown' })
  })

  it('is read from its counts and never from its sums', async () => {
    await using stage = new Stage()
    await stage.start()
    await stage.draws(61)
    expect((await monitorOf(stage)).reading).toMatchObject({ state: 'metered', promptTokens: 101_870 })
    const figures = { usedTokens: 101_870, windowTokens: 167_000, end: 'compaction', wholeTokens: 200_000 }
    expect(stage.card().level).toEqual({ state: 'known', ratio: 0.61, ...figures })
  })

  it('that is only a percentage is a reading', async () => {
    await using stage = new Stage()
    await stage.start()
    const context_window = { context_window_size: 200_000, used_percentage: 55, current_usage: null }
    await stage.hook('statusline', { raw: { context_window } })
    expect((await monitorOf(stage)).reading).toMatchObject({ state: 'percentage', usedPercent: 55 })
    expect(stage.card().level).toMatchObject({ state: 'known', ratio: 110_000 / 167_000, usedTokens: 110_000 })
  })

  it('that comes too late is stale, and the same again costs nothing', async () => {
    await using stage = new Stage()
    await stage.start()
    await stage.draws(40)
    const { version } = await monitorOf(stage)
    await stage.draws(40)
    expect((await monitorOf(stage)).version).toBe(version)
    const context_window = { context_window_size: 200_000, used_percentage: 90 }
    const late = await stage.hook('statusline', { raw: { context_window } }, { second: 0 })
    expect(late.outcome).toBe('stale_sample')
  })

  it('drawn inside a subagent says nothing of the main window', async () => {
    await using stage = new Stage()
    await stage.start()
    await stage.draws(30)
    await stage.draws(95, { agentId: 'agent-1' })
    await stage.hook('pre-compact', { agentId: 'agent-1', trigger: 'auto' })
    expect(stage.card().level).toMatchObject({ state: 'known', ratio: 0.3 })
  })
})

describe('the place where Claude Code compacts', () => {
  const endOfWindow = (stage: Stage) => {
    const { level } = stage.card()
    return level.state === 'known' && [level.windowTokens, level.end]
  }

  it.each([
    [undefined, [167_000, 'compaction']],
    [{ CLAUDE_CODE_AUTO_COMPACT_WINDOW: '150000' }, [117_000, 'compaction']],
    [{ CLAUDE_AUTOCOMPACT_PCT_OVERRIDE: '50' }, [83_500, 'compaction']],
    [{ DISABLE_AUTO_COMPACT: '1' }, [200_000, 'window']],
    [{ DISABLE_COMPACT: 'true' }, [200_000, 'window']],
  ])('is found from its variables, %j', async (variables, end) => {
    await using stage = new Stage()
    await stage.start('startup', variables === undefined ? {} : { variables })
    await stage.draws(30)
    expect(endOfWindow(stage)).toEqual(end)
    expect(stage.card().variables).toEqual(variables ?? {})
    await stage.restart()
    await stage.draws(31)
    expect(endOfWindow(stage)).toEqual(end)
  })

  it('is known from the transcript alone, where no status line is drawn', async () => {
    await using stage = new Stage()
    await stage.start('startup', { variables: { CLAUDE_CODE_DISABLE_1M_CONTEXT: '1' } })
    stage.transcript.prompts('Fix it')
    stage.transcript.answers('Done.', 100_000)
    await stage.hook('stop')
    expect(endOfWindow(stage)).toEqual([167_000, 'compaction'])
  })

  it('is not moved by what a catalogue believes of the model', async () => {
    await using stage = new Stage()
    await stage.start()
    // Before the times that the transcript has.
    const context_window = { ...statusLine(30).context_window, context_window_size: 150_000 }
    await stage.hook('statusline', { raw: { context_window } }, { second: -3_700 })
    stage.transcript.prompts('Fix it')
    stage.transcript.answers('Done.', 60_000)
    await stage.hook('stop')
    expect((await monitorOf(stage)).reading).toMatchObject({ promptTokens: 60_000 })
    expect(endOfWindow(stage)).toEqual([117_000, 'compaction'])
  })

  it('is asked for again with every prompt', async () => {
    await using stage = new Stage()
    await stage.start()
    await stage.hook('user-prompt-submit', {
      prompt: 'Go on',
      variables: { CLAUDE_CODE_AUTO_COMPACT_WINDOW: '150000' },
    })
    await stage.draws(30)
    expect(endOfWindow(stage)).toEqual([117_000, 'compaction'])
  })
})

describe('a warning', () => {
  it('reaches the agent at the next safe point, until it is acknowledged, and once', async () => {
    await using stage = new Stage()
    await stage.start()
    expect((await stage.draws(55)).signals).toEqual([])
    expect((await stage.hook('post-tool-use')).signals).toEqual([])
    const { signals } = await stage.hook('user-prompt-submit', { prompt: 'Go on' })
    expect(signals).toMatchObject([{ kind: 'milestone', milestone: 'warning', for: 'agent', delivery: 'sequential' }])
    expect(signals[0]?.text).toContain('is 55 % full: 92k of 167k before it compacts (200k window). ')
    expect((await stage.hook('user-prompt-submit')).signals).toEqual(signals)
    await stage.hook('ack', { signals: signals.map(({ id }) => id) })
    expect((await stage.hook('user-prompt-submit')).signals).toEqual([])
    await stage.draws(58)
    expect((await stage.hook('user-prompt-submit')).signals).toEqual([])
  })

  it('that is critical reaches it at the next opportunity', async () => {
    await using stage = new Stage()
    await stage.start()
    await stage.draws(70)
    const { signals } = await stage.hook('post-tool-use')
    expect(signals).toMatchObject([{ milestone: 'critical', delivery: 'urgent', for: 'agent' }])
    expect(signals[0]?.text).toBe(
      'Your context window is 70 % full: 117k of 167k before it compacts (200k window). Finish the step you are on, and ' +
        'write down what a successor needs. Keep a handoff document for the next session: call the tool handoff of the MCP ' +
        'server baton, or run `baton handoff FILE`. The person can type /baton:handoff.',
    )
    expect(stage.card().notices).toEqual(['critical: /baton:handoff, then /clear'])
  })

  it('is shown to the person for as long as the cycle lasts', async () => {
    await using stage = new Stage()
    await stage.start()
    await stage.draws(52)
    expect(stage.card().notices).toEqual(['warning: begin nothing large'])
    const { signals } = await stage.hook('user-prompt-submit')
    await stage.hook('ack', { signals: signals.map(({ id }) => id) })
    expect(stage.card().notices).toHaveLength(1)
    await stage.start('compact')
    expect(stage.card().notices.join()).not.toContain('warning')
  })

  it('reaches the session that started this one instead of the person', async () => {
    await using stage = new Stage()
    await stage.start()
    const parent = await stage.session()
    const child = `p-${randomUUID()}`
    const asChild = { providerSessionId: child, parentSessionId: parent.id }
    await stage.hook('session-start', { source: 'startup', ...asChild })
    await stage.draws(55, asChild)
    expect(stage.card(child).notices).toEqual([])
    const { signals } = await stage.hook('user-prompt-submit')
    expect(signals).toMatchObject([{ milestone: 'warning', for: 'agent' }])
    expect(signals[0]?.text).toContain('The context window of agent "claude-code"')
  })

  it('is withdrawn when the cycle ends before it was told', async () => {
    await using stage = new Stage()
    await stage.start()
    await stage.draws(70)
    await stage.hook('pre-compact', { trigger: 'auto' })
    await stage.hook('post-compact', { trigger: 'auto' })
    const { signals } = await stage.hook('user-prompt-submit')
    expect(signals).toMatchObject([{ kind: 'compaction', for: 'person' }])
    const all = (await stage.store.signals.listFor((await stage.session()).id, {})).items
    expect(all.filter(({ kind }) => kind === 'milestone').map(({ status }) => status)).toEqual(['withdrawn'])
  })
})

describe('a compaction', () => {
  it('is recorded once, whoever tells of it and however late', async () => {
    await using stage = new Stage()
    await stage.start()
    stage.transcript.prompts('Fix it')
    stage.transcript.answers('I look.', 150_000, 'Bash')
    await stage.hook('pre-compact', { trigger: 'auto' })
    expect(stage.card().level).toEqual({ state: 'compacting' })
    stage.transcript.compacts(155_000)
    const late = randomUUID()
    expect((await stage.start('compact')).outcome).toBe('repeated')
    await stage.draws(20)
    const post = await stage.hook('post-compact', { trigger: 'auto' }, { commandId: late })
    expect(post.outcome).toBe('repeated')
    expect((await stage.hook('post-compact', { trigger: 'auto' }, { commandId: late })).outcome).toBe('repeated')
    await stage.restart()
    expect((await stage.hook('post-compact', { trigger: 'auto' }, { commandId: late })).outcome).toBe('repeated')
    await stage.hook('stop')
    expect(await snapshotsOf(stage)).toEqual(['session_start', 'truncation'])
    expect((await monitorOf(stage)).window.compactedAt).toBe(155_000)
    expect(stage.card().level).toMatchObject({ state: 'known', ratio: 33_400 / 155_000 })
  })

  it('lowers the window also when the count comes after a hook that knows none', async () => {
    await using stage = new Stage()
    await stage.start()
    stage.transcript.prompts('Fix it')
    stage.transcript.answers('I look.', 130_000, 'Bash')
    await stage.draws(65)
    await stage.hook('pre-compact', { trigger: 'auto' })
    expect((await stage.start('compact')).outcome).toBe('compaction_logged')
    stage.transcript.compacts(135_000)
    expect((await stage.hook('post-compact', { trigger: 'auto' })).outcome).toBe('repeated')
    expect((await monitorOf(stage)).window.compactedAt).toBe(135_000)
    expect(stage.card().window.compactedAt).toBe(135_000)
    await stage.draws(50)
    expect(stage.card().level).toMatchObject({ ratio: 83_500 / 135_000, windowTokens: 135_000, end: 'compaction' })
    expect(await snapshotsOf(stage)).toEqual(['session_start', 'truncation'])
  })

  it('is recorded for each of two', async () => {
    await using stage = new Stage()
    await stage.start()
    for (const percent of [80, 85]) {
      await stage.draws(percent)
      await stage.hook('pre-compact', { trigger: 'auto' })
      expect((await stage.start('compact')).outcome).toBe('compaction_logged')
      expect((await stage.hook('post-compact', { trigger: 'auto' })).outcome).toBe('repeated')
    }
    expect((await monitorOf(stage)).cycle).toBe(3)
  })

  it('is told to the session that started this one before it happens', async () => {
    await using stage = new Stage()
    await stage.start()
    const parent = await stage.session()
    const asChild = { providerSessionId: `p-${randomUUID()}`, parentSessionId: parent.id }
    await stage.hook('session-start', { source: 'startup', ...asChild })
    await stage.hook('pre-compact', { trigger: 'auto', ...asChild })
    const { signals } = await stage.hook('post-tool-use')
    expect(signals).toMatchObject([{ kind: 'message', delivery: 'urgent', for: 'agent' }])
    expect(signals[0]?.text).toContain('is about to be compacted (auto)')
  })
})
