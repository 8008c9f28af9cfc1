import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { batonOn, NASTY } from './terminal.ts'

const baton = batonOn('')
const home = process.cwd()
let directory: string

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'batonpass-config-check-'))
  process.chdir(directory)
})

afterEach(() => {
  process.chdir(home)
  rmSync(directory, { recursive: true, force: true, maxRetries: 10 })
})

describe('baton config check', () => {
  it('shows the settings in force and the key each comes from', async () => {
    writeFileSync(
      'batonpass.yaml',
      [
        'session: { context_threshold: 0.10 }',
        'context_monitor: { warning_percentage: 40 }',
        'restart: { policy: auto, deadline: 90m, checkpoint_timeout: 1500 }',
        'hooks: { after_run: [{ type: shell, name: tests, command: npm test }] }',
      ].join('\n'),
    )
    const { code, out, err } = await baton('config', 'check')
    expect({ code, err }).toEqual({ code: 0, err: '' })
    expect(out.split('\n')).toEqual([
      'batonpass.yaml can be used.',
      '',
      'SETTING                       VALUE          FROM',
      'context_monitor.enabled       true           default',
      'milestones.warning            0.4            context_monitor.warning_percentage',
      'milestones.critical           0.65           default',
      'milestones.restart            0.9            session.context_threshold',
      'context_limit                 none           default',
      'restart.policy                auto           restart.policy',
      'session.max_handoffs_per_job  3              default',
      'session.mode                  persistent     default',
      'session.timeout               1d             default',
      'restart.deadline              90m            restart.deadline',
      'restart.max_cost_usd          none           default',
      'restart.allow_unpriced        false          default',
      'restart.max_takeovers         5              default',
      'restart.max_turns             none           default',
      'restart.person_words_tokens   10 %           default',
      'restart.idle_timeout          none           default',
      'restart.when_exhausted        stop           default',
      'restart.checkpoint_timeout    1500ms         restart.checkpoint_timeout',
      'restart.template              built-in       default',
      'restart.continuation          built-in       default',
      'restart.soft_landing          built-in       default',
      'restart.look_back             true           default',
      'workspace.working_directory   none           default',
      'workspace.worktree_path       none           default',
      'workspace.branch              none           default',
      'workspace.base_branch         none           default',
      'workspace.strategy            none           default',
      'workspace.worktree_dir        none           default',
      'workspace.branch_pattern      none           default',
      'fan_out.max_depth             3              default',
      'fan_out.max_open              8              default',
      'fan_out.max_threads           50             default',
      'threads.summarizer            extractive     default',
      'threads.model                 none           default',
      'threads.fallback              true           default',
      'threads.file                  none           default',
      'threads.markers               none           default',
      'threads.budget_tokens         300            default',
      'threads.expires               1d             default',
      'threads.offer_at              none           default',
      'commands.retention            7d             default',
      'redact                        on             default',
      'hooks.after_run               tests (shell)  hooks.after_run',
      'hooks.on_error                none           default',
      'hooks.on_context_threshold    none           default',
      'hooks.on_session_start        none           default',
      'hooks.after_handoff           none           default',
      '',
      'When a window fills up:',
      '  At 90 % of the usable window a run restarts in a fresh window, at most 3 times after each new prompt; then the run ends, and its session fails.',
      '  Where nobody knows how large the window is, there is no restart: write context_limit for such a model.',
      '',
      'For editors, the first line of the file may name its schema:',
      expect.stringMatching(/^ {2}# yaml-language-server: \$schema=.*docs\/schemas\/configuration\.json$/) as unknown,
    ])
  })

  it('shows what is in force for each agent', async () => {
    writeFileSync(
      'batonpass.yaml',
      'agents: [{ name: writer, runtime: codex, session: { timeout: 90m, context_restart_threshold: 2 } }]',
    )
    const { code, out } = await baton('config', 'check')
    expect(code).toBe(0)
    expect(out.split('\n').filter((line) => /agents/.test(line))).toEqual([
      'agents.writer.runtime              codex       agents[0].runtime',
      'agents.writer.milestones.warning   0.5         default',
      'agents.writer.milestones.critical  0.65        default',
      'agents.writer.milestones.restart   off         agents[0].session.context_restart_threshold',
      'agents.writer.session.timeout      90m         agents[0].session.timeout',
      'Note: agents[0].session.context_restart_threshold is 2, above 1: a full window is never restarted.',
    ])
  })

  it('says the same to machines', async () => {
    writeFileSync('batonpass.json', '{"milestones": {"restart": null}, "restart": {"deadline": "2h"}}')
    const { code, out } = await baton('config', 'check', '--json')
    expect(code).toBe(0)
    const said = JSON.parse(out) as { settings: readonly object[] }
    expect(said).toMatchObject({
      file: 'batonpass.json',
      remarks: ['The policy is auto, but the restart milestone is off: nothing will be restarted.'],
    })
    expect(said.settings).toContainEqual({ key: 'milestones.restart', value: null, from: 'milestones.restart' })
    expect(said.settings).toContainEqual({ key: 'restart.deadline', value: 7_200_000, from: 'restart.deadline' })
  })

  it('shows everything that is wrong, and ends with status 3', async () => {
    writeFileSync('settings.yml', 'sesion:\n  x: 1\nmilestones:\n  warning: 50\n')
    expect(await baton('config', 'check', 'settings.yml')).toEqual({
      code: 3,
      out: [
        'settings.yml:1: sesion: there is no such key.',
        '  Did you mean "session"?',
        'settings.yml:4: milestones.warning: 50 is not a fraction.',
        '  Write 0.5 for 50 %.',
      ].join('\n'),
      err: 'baton: The configuration settings.yml cannot be used: it has 2 problems. (input.invalid)',
    })
    const { code, out } = await baton('config', 'check', 'settings.yml', '--json')
    expect(code).toBe(3)
    expect(JSON.parse(out)).toEqual({
      file: 'settings.yml',
      problems: [
        { path: 'sesion', problem: 'there is no such key', advice: 'Did you mean "session"?', line: 1 },
        { path: 'milestones.warning', problem: '50 is not a fraction', advice: 'Write 0.5 for 50 %.', line: 4 },
      ],
    })
  })

  it('shows a problem of the whole file', async () => {
    mkdirSync('batonpass.yaml')
    const { code, out, err } = await baton('config', 'check')
    expect({ code, out }).toEqual({ code: 3, out: 'batonpass.yaml: it is not a file.\n  Name a YAML or JSON file.' })
    expect(err).toContain('it has a problem')
  })

  it.each(['batonpass.yaml', 'batonpass.yml', 'batonpass.json'])('finds %s by itself', async (file) => {
    writeFileSync(file, '{}')
    expect((await baton('config', 'check')).out).toContain(`${file} can be used.`)
  })

  it.each([
    [[], [], 'There is no batonpass.yaml, batonpass.yml, batonpass.json here. Name a file.'],
    [
      ['batonpass.yaml', 'batonpass.json'],
      [],
      'There are batonpass.yaml and batonpass.json here. Keep one, or name the file.',
    ],
    [[], ['absent.yaml'], 'There is no file "absent.yaml".'],
    [['a.yaml'], ['a.yaml', 'b.yaml'], '"b.yaml" is one word too many.'],
  ])('with %j and arguments %j is not understood', async (files, args, problem) => {
    for (const file of files) writeFileSync(file, '{}')
    const { code, out, err } = await baton('config', 'check', ...args)
    expect({ code, out }).toEqual({ code: 2, out: '' })
    expect(err).toContain(problem)
  })

  it('prints nothing of a file that moves the cursor', async () => {
    writeFileSync('bad.json', JSON.stringify({ [NASTY]: 1, restart: { policy: NASTY } }))
    writeFileSync('good.json', JSON.stringify({ workspace: { branch: NASTY } }))
    for (const file of ['bad.json', 'good.json']) {
      const { out, err } = await baton('config', 'check', file)
      expect(out + err).not.toMatch(/[^\P{Cc}\n]|[\u200e\u200f\u2028-\u202e\u2066-\u2069]/u)
    }
  })
})
