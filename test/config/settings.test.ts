import { describe, expect, it } from 'vitest'
import { readConfiguration } from '../../src/entry/index.ts'
import type { Configuration } from '../../src/entry/ports.ts'
import { fileWith } from './checking.ts'

const DEFAULTS: Configuration = {
  monitor: {
    isEnabled: true,
    milestones: [
      { name: 'warning', at: 0.5 },
      { name: 'critical', at: 0.65 },
      { name: 'restart', at: 0.85 },
    ],
  },
  restart: { budget: { maxRestarts: 3, whenExhausted: 'stop' }, checkpointTimeoutMs: 120_000 },
  session: { mode: 'persistent', timeoutMs: 86_400_000 },
  fanOut: { maxDepth: 3, maxOpen: 8, maxThreads: 50 },
  threads: { summarizer: 'extractive', fallback: true, budgetTokens: 300, expiresMs: 86_400_000 },
  commandRetentionMs: 604_800_000,
  hooks: [],
  agents: [],
}

const EVERYTHING = `
context_limit: 150_000
milestones: { warning: 0.4, critical: 0.6, restart: 0.8 }
session: { max_handoffs_per_job: 5, mode: fresh, timeout: 12h }
context_monitor: { enabled: false }
restart:
  policy: auto
  deadline: 2h
  max_cost_usd: 2.5
  max_takeovers: 2
  max_turns: 40
  person_words_tokens: 5000
  idle_timeout: 10m
  allow_unpriced: true
  checkpoint_timeout: 90s
  when_exhausted: carry_on
  template: |
    Write down where you are.
  continuation: '{original_task} {checkpoint}'
  soft_landing: Come to an end.
  look_back: false
workspace:
  working_directory: /srv/app
  base_branch: trunk
  strategy: worktree
  worktree_dir: ../trees
  branch_pattern: a/{job}
fan_out: { max_depth: 1, max_open: 2, max_threads: 7 }
threads:
  summarizer: claude
  model: claude-haiku-4-5
  fallback: false
  file: CLAUDE.local.md
  markers: { begin: <thread>, end: </thread> }
  budget_tokens: 250
  expires: 2h
  offer_at: critical
commands: { retention: 30d }
`.replace('150_000', '150000')

const ALL_SET: Configuration = {
  monitor: {
    isEnabled: false,
    policy: 'auto',
    milestones: [
      { name: 'warning', at: 0.4 },
      { name: 'critical', at: 0.6 },
      { name: 'restart', at: 0.8 },
    ],
  },
  contextLimit: 150_000,
  restart: {
    budget: { maxRestarts: 5, deadlineMs: 7_200_000, maxCostUsd: 2.5, maxTakeovers: 2, whenExhausted: 'carry_on' },
    checkpointTimeoutMs: 90_000,
    idleTimeoutMs: 600_000,
    maxTurns: 40,
    personWordsTokens: 5_000,
    allowUnpriced: true,
    template: 'Write down where you are.\n',
    continuation: '{original_task} {checkpoint}',
    softLanding: 'Come to an end.',
    lookBack: false,
  },
  workspace: { workingDirectory: '/srv/app', baseBranch: 'trunk' },
  session: { mode: 'fresh', timeoutMs: 43_200_000 },
  worktree: { dir: '../trees', branchPattern: 'a/{job}' },
  fanOut: { maxDepth: 1, maxOpen: 2, maxThreads: 7 },
  threads: {
    summarizer: 'claude',
    model: 'claude-haiku-4-5',
    fallback: false,
    file: 'CLAUDE.local.md',
    markers: { begin: '<thread>', end: '</thread>' },
    budgetTokens: 250,
    expiresMs: 7_200_000,
    offerAt: 'critical',
  },
  commandRetentionMs: 2_592_000_000,
  hooks: [],
  agents: [],
}

describe('a configuration', () => {
  it.each([
    ['an empty object', {}],
    ['sections without keys', { session: null, context_monitor: {}, restart: null, hooks: null, workspace: {} }],
    ['moments without hooks', { hooks: { after_run: null } }],
  ])('has defaults for %s', async (_, object) => {
    expect((await readConfiguration(object)).configuration).toStrictEqual(DEFAULTS)
  })

  it.each(['', '# nothing yet\n', 'session:\n', '{}'])('has defaults for the file %j', async (text) => {
    expect((await readConfiguration(fileWith(text))).configuration).toStrictEqual(DEFAULTS)
  })

  it('is what a YAML file says', async () => {
    expect((await readConfiguration(fileWith(EVERYTHING))).configuration).toStrictEqual(ALL_SET)
  })

  it('is the same from JSON, tabs included, and from an object', async () => {
    const object = {
      context_limit: 150_000,
      milestones: [0.4, 0.6, 0.8],
      session: { max_handoffs_per_job: 5, mode: 'fresh', timeout: '12h' },
      context_monitor: { enabled: false },
      restart: {
        policy: 'auto',
        deadline: 7_200_000,
        max_cost_usd: 2.5,
        max_takeovers: 2,
        max_turns: 40,
        person_words_tokens: 5_000,
        idle_timeout: '10m',
        allow_unpriced: true,
        checkpoint_timeout: '90s',
        when_exhausted: 'carry_on',
        template: 'Write down where you are.\n',
        continuation: '{original_task} {checkpoint}',
        soft_landing: 'Come to an end.',
        look_back: false,
      },
      workspace: {
        working_directory: '/srv/app',
        base_branch: 'trunk',
        strategy: 'worktree',
        worktree_dir: '../trees',
        branch_pattern: 'a/{job}',
      },
      fan_out: { max_depth: 1, max_open: 2, max_threads: 7 },
      threads: {
        summarizer: 'claude',
        model: 'claude-haiku-4-5',
        fallback: false,
        file: 'CLAUDE.local.md',
        markers: { begin: '<thread>', end: '</thread>' },
        budget_tokens: 250,
        expires: '2h',
        offer_at: 'critical',
      },
      commands: { retention: 2_592_000_000 },
    }
    const json = fileWith(JSON.stringify(object, null, '\t'), 'batonpass.JSON')
    expect((await readConfiguration(json)).configuration).toStrictEqual(ALL_SET)
    expect((await readConfiguration(object)).configuration).toStrictEqual(ALL_SET)
  })

  it.each([
    ['1500', 1_500],
    ['"1500ms"', 1_500],
    ['120s', 120_000],
    ['10m', 600_000],
    ['10 m', 600_000],
    ['2h', 7_200_000],
    ['3d', 259_200_000],
    ['365d', 31_536_000_000],
  ])('takes %s as a length of time', async (written, deadlineMs) => {
    const { configuration } = await readConfiguration(fileWith(`restart: { deadline: ${written} }`))
    expect(configuration.restart.budget.deadlineMs).toBe(deadlineMs)
  })

  it('says of every setting where it comes from', async () => {
    const { settings } = await readConfiguration(fileWith(EVERYTHING))
    expect(settings.filter(({ from }) => from === 'default').map(({ key }) => key)).toEqual([
      'workspace.worktree_path',
      'workspace.branch',
      'redact',
      'hooks.after_run',
      'hooks.on_error',
      'hooks.on_context_threshold',
      'hooks.on_session_start',
      'hooks.after_handoff',
    ])
    expect(settings.filter(({ from, key }) => from !== 'default' && from !== key)).toEqual([])
    const none = await readConfiguration({})
    expect(none.settings.map(({ from }) => from)).toEqual(settings.map(() => 'default'))
    expect(Object.fromEntries(none.settings.map(({ key, value }) => [key, value]))).toMatchObject({
      'context_monitor.enabled': true,
      'milestones.restart': 0.85,
      context_limit: null,
      'restart.policy': 'auto',
      'restart.checkpoint_timeout': 120_000,
      'restart.deadline': null,
    })
  })

  it('may switch the soft landing off, and has no other word for that', async () => {
    const { configuration, settings } = await readConfiguration({ restart: { soft_landing: false } })
    expect(configuration.restart.softLanding).toBe(false)
    expect(settings.find(({ key }) => key === 'restart.soft_landing')).toMatchObject({ value: false })
    for (const wrong of [true, 0, ' '])
      await expect(readConfiguration({ restart: { soft_landing: wrong } })).rejects.toThrow(/neither a text nor false/)
  })

  it.each([
    [{ restart: { policy: 'auto' }, context_monitor: { enabled: false } }, 'the monitor is off'],
    [{ restart: { policy: 'auto' }, milestones: { restart: null } }, 'the restart milestone is off'],
    [{ session: { context_threshold: 0.9 } }, 'Restart is at 0.1'],
    [{ restart: { policy: 'auto' }, milestones: { restart: 0.97 } }, 'leaves 6000, too few to ask the agent'],
  ])('remarks on %j', async (object, remark) => {
    const { remarks } = await readConfiguration(object)
    expect(remarks).toContainEqual(expect.stringContaining(remark))
  })

  it('has nothing to remark on most of the time', async () => {
    expect((await readConfiguration(fileWith(EVERYTHING.replace('enabled: false', 'enabled: true')))).remarks).toEqual(
      [],
    )
  })
})

describe('hooks', () => {
  const hooksIn = async (text: string) => (await readConfiguration(fileWith(text))).configuration.hooks

  it('are one list, each with its moment and its defaults', async () => {
    const hooks = await hooksIn(`
hooks:
  after_handoff: [{ type: discord, url: "\${DISCORD_URL}" }]
  after_run:
    - type: shell
      command: npm test
    - type: webhook
      name: audit
      url: https://example.org/hook
      method: PUT
      headers: { Authorization: "Bearer \${TOKEN}" }
      on_events: [completed, failed]
      when: session.branch_name
      continue_on_error: false
      timeout: 5s
  on_error: [{ type: slack, url: https://hooks.example.org/x }, { type: webhook, url: https://example.org }]
  on_session_start: [{ type: shell, command: [cat, NOTES.md] }]
`)
    const usual = { shouldContinueOnError: true, timeoutMs: 10_000 }
    expect(hooks).toStrictEqual([
      { ...usual, moment: 'after_run', type: 'shell', command: 'npm test', timeoutMs: 30_000 },
      {
        moment: 'after_run',
        type: 'webhook',
        name: 'audit',
        url: 'https://example.org/hook',
        method: 'PUT',
        headers: { Authorization: `Bearer \${TOKEN}` },
        onEvents: ['completed', 'failed'],
        when: 'session.branch_name',
        shouldContinueOnError: false,
        timeoutMs: 5_000,
      },
      { ...usual, moment: 'on_error', type: 'slack', url: 'https://hooks.example.org/x' },
      { ...usual, moment: 'on_error', type: 'webhook', url: 'https://example.org', method: 'POST', headers: {} },
      { ...usual, moment: 'on_session_start', type: 'shell', command: ['cat', 'NOTES.md'], timeoutMs: 30_000 },
      { ...usual, moment: 'after_handoff', type: 'discord', url: `\${DISCORD_URL}` },
    ])
  })

  it('may be signed, and may stay on this machine without https', async () => {
    const urls = ['http://127.0.0.1:8080/hook', 'http://localhost/', 'http://[::1]:8080/']
    const after_run = urls.map((url) => ({ type: 'webhook', url, secret: `\${HOOK_SECRET}` }))
    const { configuration } = await readConfiguration({ hooks: { after_run } })
    expect(configuration.hooks).toMatchObject(after_run)
  })

  it('may be functions of the program', async () => {
    const run = () => 'continue'
    const { configuration, settings } = await readConfiguration({
      hooks: { on_context_threshold: [{ type: 'function', name: 'ask', run }] },
    })
    expect(configuration.hooks[0]).toMatchObject({ type: 'function', run, moment: 'on_context_threshold' })
    expect(settings.find(({ key }) => key === 'hooks.on_context_threshold')?.value).toBe('ask (function)')
  })

  it('show no address and no header among the settings', async () => {
    const { settings } = await readConfiguration({
      hooks: { on_error: [{ type: 'webhook', url: 'https://secret.example', headers: { 'X-Key': 'secret' } }] },
    })
    expect(JSON.stringify(settings)).not.toContain('secret')
  })
})
