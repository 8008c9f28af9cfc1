import { describe, expect, it } from 'vitest'
import type { HookSettings } from '../../src/entry/hooks.ts'
import { type Batonpass, createBatonpass, everyPage } from '../../src/entry/index.ts'
import { openStore, RULE_STORES } from '../support/stores.ts'
import { ENDS, FILLS, play, recorded, script, TASK, turn } from './played.ts'

type Payload = Record<string, unknown>

/** A hook that keeps what it is told and answers with this. */
const hook = (
  moment: HookSettings['moment'],
  answer: unknown,
  told: Payload[] = [],
  more: Partial<HookSettings> = {},
): HookSettings =>
  ({
    type: 'function',
    moment,
    name: moment,
    shouldContinueOnError: true,
    timeoutMs: 5_000,
    run: (payload: unknown) => {
      told.push(payload as Payload)
      if (answer instanceof Error) throw answer
      return answer
    },
    ...more,
  }) as HookSettings

const deliveries = async ({ history }: Batonpass, conversationId: Parameters<typeof history.auditTrail>[0]) => {
  const found = []
  for await (const { event } of everyPage((page) => history.auditTrail(conversationId, page)))
    if (event.type === 'hook.delivered') found.push(event)
  return found
}

describe.each(RULE_STORES)('hooks of a run on %s', (kind) => {
  const open = async (hooks: readonly HookSettings[]) =>
    createBatonpass({ store: (await openStore(kind)).store, runs: { hooks } })

  it('continue lets it run on, and is asked once', async () => {
    const told: Payload[] = []
    const batonpass = await open([hook('on_context_threshold', 'continue', told)])
    const runtime = script([{ turns: [...FILLS, turn(950, 'edit'), turn(960)] }])
    const { summary } = await play(batonpass, runtime)
    expect(summary).toMatchObject({ outcome: 'completed', restarts: 0, turns: 4 })
    expect(told).toHaveLength(1)
    expect(told[0]).toMatchObject({
      hook_event_name: 'context_threshold',
      context: { input_tokens: 901, context_window: 1_000, usage_percent: 0.901, remaining_percent: 0.099 },
      session: { session_id: summary.lastSessionId, agent_name: 'claude', job_id: null },
      original_prompt: TASK,
    })
    expect((await recorded(batonpass, summary)).handoffs).toEqual([])
  })

  it.each([['abort'], [''], [undefined]])('%o starts a new session without a checkpoint', async (answer) => {
    const batonpass = await open([hook('on_context_threshold', answer)])
    const runtime = script([{ turns: FILLS, checkpoint: 'Unwanted.' }, { turns: ENDS }])
    const { summary } = await play(batonpass, runtime)
    expect(summary).toMatchObject({ outcome: 'completed', restarts: 1 })
    expect(runtime.questions).toEqual([])
    const { handoffs } = await recorded(batonpass, summary)
    expect(handoffs).toMatchObject([
      {
        kind: 'context_restart',
        status: 'completed',
        flags: ['decided_by_hook', 'minimal_continuation', 'checkpoint_skipped', 'recap_from_record'],
      },
    ])
    expect(handoffs[0]?.triggeringToolCalls.map(({ toolName }) => toolName)).toEqual(['read', 'edit'])
  })

  it('if all of them fail the built-in restart runs', async () => {
    const batonpass = await open([hook('on_context_threshold', new Error('No disk'))])
    const runtime = script([{ turns: FILLS, checkpoint: '<checkpoint>Half.</checkpoint>' }, { turns: ENDS }])
    const { summary } = await play(batonpass, runtime)
    expect((await recorded(batonpass, summary)).handoffs).toMatchObject([{ document: 'Half.', flags: [] }])
    expect(runtime.questions).toHaveLength(1)
  })

  it('the budget holds for hooks too', async () => {
    const batonpass = await open([hook('on_context_threshold', 'abort')])
    const none = { maxRestarts: 0, whenExhausted: 'stop' as const }
    const { summary } = await play(batonpass, script([{ turns: [...FILLS, ...ENDS] }]), { budget: none })
    expect(summary).toMatchObject({ outcome: 'exhausted', restarts: 0 })
  })

  it('session-start hooks are told first, and what they say stands in a fence before the prompt', async () => {
    const told: Payload[] = []
    const batonpass = await open([hook('on_session_start', 'Use pnpm here.', told)])
    const runtime = script([
      { turns: FILLS, checkpoint: 'Half.' },
      { turns: FILLS, checkpoint: 'More.' },
      { turns: ENDS },
    ])
    const workspace = { workingDirectory: '/repo', worktreePath: '/repo/.worktrees/fix', branch: 'fix' }
    const { summary } = await play(batonpass, runtime, { workspace, conversation: `hooked-${kind}-${process.pid}` })
    const { sessions } = await recorded(batonpass, summary)
    expect(told.map(({ session }) => session)).toMatchObject([
      { session_id: sessions[0]?.id, is_continuation: false, previous_session_id: null, handoff_count: 0 },
      { session_id: sessions[1]?.id, is_continuation: true, previous_session_id: sessions[0]?.id, handoff_count: 1 },
      { session_id: sessions[2]?.id, is_continuation: true, previous_session_id: sessions[1]?.id, handoff_count: 2 },
    ])
    expect(told[1]).toMatchObject({
      session: {
        job_id: `hooked-${kind}-${process.pid}`,
        working_directory: '/repo/.worktrees/fix',
        worktree_path: '/repo/.worktrees/fix',
        branch_name: 'fix',
      },
    })
    for (const { prompt, workspace: given } of runtime.launches) {
      const [introduction = '', ...rest] = prompt.split('\n\n')
      const word = /^Before this session began, hooks .* hold (hooks-[0-9a-f-]+), and/.exec(introduction)?.[1]
      expect(rest.join('\n\n').startsWith(`<${word}>\nUse pnpm here.\n</${word}>\n\n${TASK}`)).toBe(true)
      expect(given).toEqual(workspace)
    }
  })

  it('are told of the repository and of the worktree in keys of their own, and of where a session is about to work', async () => {
    const told: Payload[] = []
    const answers = { on_context_threshold: 'abort' } as Readonly<Record<string, string>>
    const moments = ['on_session_start', 'on_context_threshold', 'after_handoff', 'after_run'] as const
    const batonpass = await open(moments.map((moment) => hook(moment, answers[moment] ?? '', told)))
    const workspace = {
      workingDirectory: '/repo',
      worktreePath: '/repo/.worktrees/fix',
      branch: 'fix',
      baseBranch: 'main',
    }
    await play(batonpass, script([{ turns: FILLS }, { turns: ENDS }]), { workspace })
    const places = told.map(({ hook_event_name, session }) => {
      const { working_directory, worktree_path } = session as Payload
      return [hook_event_name, working_directory, worktree_path]
    })
    const [root, worktree] = [workspace.workingDirectory, workspace.worktreePath]
    expect(places).toEqual([
      ['session_start', worktree, worktree],
      ['context_threshold', root, worktree],
      ['session_start', worktree, worktree],
      ['handoff_completed', root, worktree],
      ['completed', root, worktree],
    ])
  })

  it('after a handoff and after a run they are told what became of it, and all calls are in the audit log', async () => {
    const [passed, over, wrong]: [Payload[], Payload[], Payload[]] = [[], [], []]
    const batonpass = await open([
      hook('after_handoff', 'ok', passed),
      hook('after_run', new Error('No mail'), over),
      hook('on_error', 'ok', wrong),
    ])
    const { summary, events } = await play(batonpass, script([{ turns: FILLS, checkpoint: 'On.' }, { turns: ENDS }]))
    const { sessions, handoffs } = await recorded(batonpass, summary)
    expect(passed).toMatchObject([
      {
        hook_event_name: 'handoff_completed',
        handoff: {
          handoff_id: handoffs[0]?.id,
          handoff_number: 1,
          previous_session_id: sessions[0]?.id,
          new_session_id: sessions[1]?.id,
        },
      },
    ])
    expect(over).toMatchObject([{ hook_event_name: 'completed', run: { handoff_count: 1, error: null } }])
    expect(wrong).toEqual([])
    expect(await deliveries(batonpass, summary.conversationId)).toMatchObject([
      { moment: 'after_handoff', hook: 'after_handoff', hookType: 'function', ok: true },
      { moment: 'after_run', ok: false, errorCode: 'hook.threw' },
    ])
    expect(events.filter(({ type }) => type === 'hook:called')).toHaveLength(2)
    expect(await batonpass.audit.verify(summary.conversationId)).toMatchObject({ ok: true, value: { intact: true } })
  })

  it('when a run fails, both are told', async () => {
    const [over, wrong]: [Payload[], Payload[]] = [[], []]
    const batonpass = await open([hook('after_run', '', over), hook('on_error', '', wrong)])
    const end = { type: 'failed', message: 'The disk is full.' } as const
    const { summary } = await play(batonpass, script([{ turns: ENDS, end }]))
    expect(summary).toMatchObject({ outcome: 'failed', reason: 'The disk is full.' })
    expect(wrong).toMatchObject([{ hook_event_name: 'failed', error: { message: 'The disk is full.' } }])
    expect(over).toMatchObject([{ hook_event_name: 'failed', run: { error: 'The disk is full.' } }])
  })

  it('a session-start hook that must not fail ends the run, and nothing is launched', async () => {
    const strict = hook('on_session_start', new Error('No licence'), [], { shouldContinueOnError: false })
    const batonpass = await open([strict])
    const runtime = script([{ turns: ENDS }])
    const { summary } = await play(batonpass, runtime)
    expect(summary.outcome).toBe('failed')
    expect(summary.reason).toContain('No licence')
    expect(runtime.launches).toEqual([])
  })
})
