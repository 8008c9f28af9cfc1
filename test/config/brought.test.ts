import { describe, expect, it } from 'vitest'
import { readConfiguration } from '../../src/entry/index.ts'
import { fileWith, problemsIn } from './checking.ts'

/** Configurations as people bring them from elsewhere: what each means here, setting by setting. */
const ACCEPTED: readonly (readonly [block: string, meaning: readonly string[]])[] = [
  [
    `
session:
  context_handoff_threshold: 0.10
`,
    ['milestones.restart = 0.9 (session.context_handoff_threshold)'],
  ],
  [
    `
session:
  context_restart_threshold: 0.90
`,
    ['milestones.restart = 0.9 (session.context_restart_threshold)'],
  ],
  [
    `
session:
  context_restart_threshold: 1.1 # never
`,
    ['milestones.restart = null (session.context_restart_threshold)'],
  ],
  [
    `
session:
  context_threshold: 0.2
  context_handoff_threshold: 0.2
`,
    ['milestones.restart = 0.8 (session.context_threshold, session.context_handoff_threshold)'],
  ],
  [
    `
session:
  mode: fresh
  timeout: 12h
  max_handoffs_per_job: 5
`,
    [
      'session.max_handoffs_per_job = 5 (session.max_handoffs_per_job)',
      'session.mode = fresh (session.mode)',
      'session.timeout = 43200000 (session.timeout)',
    ],
  ],
  [
    `
working_directory:
  root: /srv/app
  default_branch: develop
`,
    [
      'workspace.base_branch = develop (working_directory.default_branch)',
      'workspace.working_directory = /srv/app (working_directory.root)',
    ],
  ],
  ['working_directory: /srv/app', ['workspace.working_directory = /srv/app (working_directory)']],
  [
    `
working_directory: { root: /srv/app }
workspace: { working_directory: /srv/app, base_branch: main }
`,
    [
      'workspace.base_branch = main (workspace.base_branch)',
      'workspace.working_directory = /srv/app (workspace.working_directory, working_directory.root)',
    ],
  ],
  [
    `
workspace:
  strategy: worktree
  worktree_dir: .trees
  branch_pattern: agents/{agent_name}/{job_id}
  push_on_success: false
  create_pr: false
`,
    [
      'workspace.branch_pattern = agents/{agent_name}/{job_id} (workspace.branch_pattern)',
      'workspace.strategy = worktree (workspace.strategy)',
      'workspace.worktree_dir = .trees (workspace.worktree_dir)',
    ],
  ],
  [
    'workspace: { strategy: worktree }',
    [
      'workspace.branch_pattern = baton/{job} (default)',
      'workspace.strategy = worktree (workspace.strategy)',
      'workspace.worktree_dir = .worktrees (default)',
    ],
  ],
  [
    `
hooks:
  on_error:
    - type: slack
      channel_id: C0123456789
      bot_token_env: SLACK_BOT_TOKEN
  after_run:
    - type: slack
      name: team
      channel_id: C0123456789
`,
    ['hooks.after_run = team (slack) (hooks.after_run)', 'hooks.on_error = slack (hooks.on_error)'],
  ],
  [
    `
session: { context_handoff_threshold: 0.15 }
hooks:
  on_error: [{ type: shell, name: all, command: notify-send failed }]
  after_run: [{ type: shell, name: tests, command: npm test }]
agents:
  - name: writer
    runtime: claude
    model: opus
    session: { context_restart_threshold: 0.7, mode: fresh, timeout: 1h, max_handoffs_per_job: 9 }
    context_limit: 100000
    hooks:
      after_run: [{ type: shell, name: lint, command: npm run lint }]
  - name: reviewer
    command: my-agent --json
    milestones: [0.3, 0.6]
`,
    [
      'agents.reviewer.command = my-agent --json (agents[1].command)',
      'agents.reviewer.milestones.critical = 0.6 (agents[1].milestones[1])',
      'agents.reviewer.milestones.restart = null (milestones)',
      'agents.reviewer.milestones.warning = 0.3 (agents[1].milestones[0])',
      'agents.reviewer.runtime = command (agents[1].command)',
      'agents.writer.context_limit = 100000 (agents[0].context_limit)',
      'agents.writer.hooks.after_run = lint (shell) (agents[0].hooks.after_run)',
      'agents.writer.milestones.critical = 0.65 (default)',
      'agents.writer.milestones.restart = 0.7 (agents[0].session.context_restart_threshold)',
      'agents.writer.milestones.warning = 0.5 (default)',
      'agents.writer.model = opus (agents[0].model)',
      'agents.writer.runtime = claude (agents[0].runtime)',
      'agents.writer.session.max_handoffs_per_job = 9 (agents[0].session.max_handoffs_per_job)',
      'agents.writer.session.mode = fresh (agents[0].session.mode)',
      'agents.writer.session.timeout = 3600000 (agents[0].session.timeout)',
      'hooks.after_run = tests (shell) (hooks.after_run)',
      'hooks.on_error = all (shell) (hooks.on_error)',
      'milestones.restart = 0.85 (session.context_handoff_threshold)',
    ],
  ],
]

describe('a configuration that people bring is understood', () => {
  it.each(ACCEPTED)('%s', async (block, meaning) => {
    const [{ settings }, { settings: usual }] = [await readConfiguration(fileWith(block)), await readConfiguration({})]
    const isUsual = (setting: object): boolean =>
      usual.some((known) => JSON.stringify(known) === JSON.stringify(setting))
    const said = settings
      .filter((setting) => !isUsual(setting))
      .map(({ key, value, from }) => `${key} = ${value} (${from})`)
    expect(said.toSorted()).toEqual(meaning)
  })

  it('an agent has what it says, and what the whole says where it says nothing', async () => {
    const { configuration } = await readConfiguration(fileWith(ACCEPTED.at(-1)?.[0] ?? ''))
    const [writer, reviewer] = configuration.agents
    expect(writer).toMatchObject({
      name: 'writer',
      runtime: 'claude',
      model: 'opus',
      contextLimit: 100_000,
      maxRestarts: 9,
      session: { mode: 'fresh', timeoutMs: 3_600_000 },
    })
    expect(writer?.milestones.map(({ name, at }) => `${name} ${at}`)).toEqual([
      'warning 0.5',
      'critical 0.65',
      'restart 0.7',
    ])
    expect(writer?.hooks.map(({ moment, name }) => `${moment} ${name}`)).toEqual(['after_run lint', 'on_error all'])
    expect(reviewer).toMatchObject({ runtime: 'command', session: { mode: 'persistent', timeoutMs: 86_400_000 } })
    expect(reviewer).not.toHaveProperty('maxRestarts')
    expect(reviewer?.milestones.map(({ name }) => name)).toEqual(['warning', 'critical'])
    expect(reviewer?.hooks.map(({ moment, name }) => `${moment} ${name}`)).toEqual(['after_run tests', 'on_error all'])
  })

  it('an agent that sets its thresholds by another key than the whole does not contradict it', async () => {
    const block = 'milestones: { restart: 0.8 }\nagents: [{ name: a, session: { context_handoff_threshold: 0.05 } }]'
    const { configuration } = await readConfiguration(fileWith(block))
    expect(configuration.agents[0]?.milestones.at(-1)).toEqual({ name: 'restart', at: 0.95 })
    expect(configuration.monitor.milestones.at(-1)).toEqual({ name: 'restart', at: 0.8 })
  })

  it.each([
    [
      'session: { context_restart_threshold: 1.5 }',
      'session.context_restart_threshold is 1.5, above 1: a full window is never restarted.',
    ],
    ['session: { context_restart_threshold: 90 }', 'never restarted. Write 0.9 if 90 % was meant.'],
    [
      'agents: [{ name: a, session: { context_restart_threshold: 85 } }]',
      'agents[0].session.context_restart_threshold is 85, above 1',
    ],
  ])('a threshold that means never is remarked on: %s', async (block, remark) => {
    const { remarks } = await readConfiguration(fileWith(block))
    expect(remarks).toContainEqual(expect.stringContaining(remark))
  })
})

const HOOK = (command: string) =>
  `Write a hook instead: hooks: { after_run: [{ type: shell, on_events: [completed], command: "${command}" }] }.`
const CHANNEL = `Write url: \${SLACK_WEBHOOK_URL} for a webhook, or channel_id: C0123456789 with a token in SLACK_BOT_TOKEN.`

/** What cannot be used, with the line it stands on, and what to write instead. */
const REFUSED: readonly (readonly [block: string, problems: readonly string[]])[] = [
  [
    'session:\n  context_handoff_threshold: 0.10\n  context_restart_threshold: 0.90',
    [
      '3 session.context_restart_threshold | context_handoff_threshold is there as well, and both are about the restart | Keep one. context_handoff_threshold is what remains (0.1, which restarts at 0.9); context_restart_threshold is what is used (0.9, which restarts there).',
    ],
  ],
  [
    'session:\n  context_handoff_threshold: 0.10\n  context_restart_threshold: 2',
    [
      '3 session.context_restart_threshold | context_handoff_threshold is there as well, and both are about the restart | Keep one. context_handoff_threshold is what remains (0.1, which restarts at 0.9); context_restart_threshold is what is used (2, which never restarts).',
    ],
  ],
  [
    'agents:\n  - name: a\n    session: { context_handoff_threshold: 0.1, context_restart_threshold: 0.9 }',
    [
      '3 agents[0].session.context_restart_threshold | context_handoff_threshold is there as well, and both are about the restart | Keep one. context_handoff_threshold is what remains (0.1, which restarts at 0.9); context_restart_threshold is what is used (0.9, which restarts there).',
    ],
  ],
  [
    'session: { context_restart_threshold: 0.8, context_threshold: 0.1 }',
    [
      '1 session.context_restart_threshold | context_threshold is there as well, and both are about the restart | Keep one. context_threshold is what remains (0.1, which restarts at 0.9); context_restart_threshold is what is used (0.8, which restarts there).',
    ],
  ],
  [
    'session: { context_restart_threshold: 0.9, context_threshold: 0.1 }',
    [
      '1 session.context_restart_threshold | context_threshold is there as well, and both are about the restart | Keep one. context_threshold is what remains (0.1, which restarts at 0.9); context_restart_threshold is what is used (0.9, which restarts there).',
    ],
  ],
  [
    'working_directory: { default_branch: "-x" }\nworkspace: { branch: "a b" }',
    [
      '1 working_directory.default_branch | it begins with a hyphen | Write the name of a branch, such as main.',
      '2 workspace.branch | it has a space or one of ~ ^ : ? * [ \\ | Write the name of a branch, such as main.',
    ],
  ],
  [
    'workspace: { strategy: worktree, branch_pattern: "agent/{{job_id}}" }',
    [
      '1 workspace.branch_pattern | it has braces that belong to no placeholder | Use {job} and {agent}, each in single braces.',
    ],
  ],
  [
    'agents: [{ name: a, runtime: claude-code }]',
    ['1 agents[0].runtime | "claude-code" is not known | Did you mean "claude"?'],
  ],
  [
    'agents: [{ name: a, deadline: 2h, context_threshold: 0.1 }]',
    [
      '1 agents[0].deadline | there is no such key | It is the same for all agents: write restart.deadline, outside of agents.',
      '1 agents[0].context_threshold | there is no such key | Did you mean "session.context_threshold"?',
    ],
  ],
  [
    'session: { context_restart_threshold: 0 }',
    [
      '1 session.context_restart_threshold | 0 is not a fraction above 0 | Write what may be used: 0.9 restarts at nine tenths of the window, and above 1 means never.',
    ],
  ],
  [
    'session: { context_handoff_threshold: 10 }',
    ['1 session.context_handoff_threshold | 10 is not a fraction | Write 0.1 for 10 % remaining.'],
  ],
  ['session: { mode: persistant }', ['1 session.mode | "persistant" is not known | Did you mean "persistent"?']],
  [
    'session: { timeout: soon }',
    ['1 session.timeout | "soon" is not a length of time | Write one such as 120s, 10m or 2h, or milliseconds.'],
  ],
  ['session: { timeouts: 1h }', ['1 session.timeouts | there is no such key | Did you mean "timeout"?']],
  ['timeout: 1h', ['1 timeout | there is no such key | Did you mean "session.timeout"?']],
  [
    'workspace:\n  strategy: worktree\n  push_on_success: true',
    [
      `3 workspace.push_on_success | pushing is not done by Batonpass itself | ${HOOK('git push --set-upstream origin HEAD')}`,
    ],
  ],
  [
    'workspace:\n  create_pr: true',
    [
      `2 workspace.create_pr | opening a pull request is not done by Batonpass itself | ${HOOK('git push -u origin HEAD && gh pr create --fill')}`,
    ],
  ],
  ['workspace: { strategy: clone }', ['1 workspace.strategy | "clone" is not known | Use one of: none, worktree.']],
  [
    'workspace: { worktree_dir: .trees }',
    ['1 workspace.worktree_dir | no worktree is made | Write workspace.strategy: worktree as well, or leave this out.'],
  ],
  [
    'workspace: { strategy: worktree, worktree_path: /srv/tree }',
    ['1 workspace.worktree_path | the strategy makes the worktree | Write worktree_dir, or leave the strategy out.'],
  ],
  [
    'workspace: { strategy: worktree, branch: fix }',
    ['1 workspace.branch | all conversations would share it | Write a branch_pattern such as baton/{job} instead.'],
  ],
  [
    'workspace: { strategy: worktree, branch_pattern: agents/work }',
    [
      '1 workspace.branch_pattern | it has no {job}, so that all conversations would share a branch | Write one such as baton/{job}.',
    ],
  ],
  [
    'workspace: { strategy: worktree, branch_pattern: "agent/{timestamp}-{job}" }',
    [
      '1 workspace.branch_pattern | it has a placeholder that is not known, {timestamp} | Use {job} and {agent}: the same conversation must come to the same branch again.',
    ],
  ],
  [
    'workspace: { strategy: worktree, branch_pattern: "--{job}" }',
    ['1 workspace.branch_pattern | it begins with a hyphen | Write one such as baton/{agent}/{job}.'],
  ],
  [
    'working_directory: { root: /a, default_branch: main }\nworkspace: { working_directory: /b, base_branch: dev }',
    [
      '2 workspace.working_directory | it contradicts working_directory.root | Keep workspace.working_directory or working_directory.root, not both.',
      '2 workspace.base_branch | it contradicts working_directory.default_branch | Keep workspace.base_branch or working_directory.default_branch, not both.',
    ],
  ],
  ['working_directory: { rooot: /a }', ['1 working_directory.rooot | there is no such key | Did you mean "root"?']],
  [
    'working_directory: 7',
    ['1 working_directory | 7 stands where keys are expected | Known keys: root, default_branch.'],
  ],
  ['hooks:\n  on_error: [{ type: slack }]', [`2 hooks.on_error[0] | it says neither url nor channel_id | ${CHANNEL}`]],
  [
    `hooks:\n  on_error: [{ type: slack, channel_id: C0123456789, url: "\${SLACK}" }]`,
    [`2 hooks.on_error[0].channel_id | url is there as well | ${CHANNEL}`],
  ],
  [
    `hooks:\n  on_error: [{ type: slack, url: "\${SLACK}", bot_token_env: SLACK_BOT_TOKEN }]`,
    [`2 hooks.on_error[0].bot_token_env | it goes with channel_id | ${CHANNEL}`],
  ],
  [
    'hooks:\n  on_error: [{ type: slack, channel_id: C0123456789, bot_token: xoxb-1 }]',
    ['2 hooks.on_error[0].bot_token | there is no such key | Did you mean "bot_token_env"?'],
  ],
  [
    'hooks:\n  on_error: [{ type: slack, channel_id: C0123456789, bot_token_env: xoxb-secret }]',
    [
      '2 hooks.on_error[0].bot_token_env | it is not the name of a variable | Write the name of the variable that holds the token, such as SLACK_BOT_TOKEN, and not the token itself.',
    ],
  ],
  [
    'hooks:\n  on_error: [{ type: slack, channel_id: "#general" }]',
    [
      '2 hooks.on_error[0].channel_id | it is not the id of a channel | Write one such as C0123456789; Slack shows it at the end of "About" of the channel.',
    ],
  ],
  [
    'hooks:\n  on_error: [{ type: discord, channel_id: "123" }]',
    [
      `2 hooks.on_error[0].url | it is not an https address | Write one such as https://example.org/hook, or \${NAME} for a variable.`,
      `2 hooks.on_error[0].channel_id | Discord is written to by the address of a webhook | Make a webhook in the settings of the channel, and write url: \${DISCORD_WEBHOOK_URL}.`,
    ],
  ],
  [
    'agents:\n  - { name: a, runtime: cloud }\n  - { name: a }',
    ['2 agents[0].runtime | "cloud" is not known | Did you mean "claude"?'],
  ],
  [
    'agents:\n  - { name: a, runtime: command }\n  - { name: a, runtime: claude-sdk, command: x }',
    [
      '2 agents[0].runtime | it does not say which command | Write command: my-agent --json as well.',
      '3 agents[1].name | agents[0] has this name | Give each agent a name of its own.',
      '3 agents[1].command | claude-sdk runs no command | Leave it out, or write runtime: claude.',
    ],
  ],
  [
    'agents:\n  - name: a\n    session: { context_treshold: 0.1 }\n    milestones: { warnings: 0.1 }',
    [
      '3 agents[0].session.context_treshold | there is no such key | Did you mean "context_threshold"?',
      '4 agents[0].milestones.warnings | there is no such key | Did you mean "warning"?',
    ],
  ],
  [
    'agents: [{ name: a, milestones: { critical: 0.9 } }]',
    [
      '1 agents[0].milestones.critical | restart (0.85, the default) does not come after critical (0.9) | Make each milestone higher than the one before it, or switch one off with null.',
    ],
  ],
  [
    'agents:\n  - { runtime: codex }\n  - { name: " " }',
    [
      '2 agents[0].name | nothing is not a text | Write a name such as reviewer.',
      '3 agents[1].name | it is empty | Write a name such as reviewer.',
    ],
  ],
  [
    'agents: { name: a }',
    ['1 agents | a section is not a list | Write a list such as [{ name: reviewer, runtime: codex }].'],
  ],
]

describe('a configuration that cannot be used is refused with what to write', () => {
  it.each(REFUSED)('%s', async (block, expected) => {
    const problems = await problemsIn(fileWith(block))
    expect(problems.map(({ line, path, problem, advice }) => `${line} ${path} | ${problem} | ${advice}`)).toEqual(
      expected,
    )
  })

  it('and never shows what may be a token', async () => {
    const block = 'hooks: { on_error: [{ type: slack, channel_id: xoxb-1-secret, bot_token_env: xoxb-2-secret }] }'
    expect(JSON.stringify(await problemsIn(fileWith(block)))).not.toContain('secret')
  })
})
