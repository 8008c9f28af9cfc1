import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { CONFIGURATION_SCHEMA, configurationSchema } from '../../scripts/configuration-schema.ts'
import { describeFullWindow } from '../../src/domain/run/full-window.ts'
import { ConfigurationError, readConfiguration } from '../../src/entry/index.ts'
import { CLONE } from '../support/clean-room.ts'

const problemsOf = async (content: object): Promise<readonly string[]> => {
  try {
    await readConfiguration(content)
  } catch (error) {
    if (error instanceof ConfigurationError) return error.problems.map(({ path, problem }) => `${path}: ${problem}`)
    throw error
  }
  return []
}

describe('the permission mode of an agent', () => {
  it('is a word of its runtime', async () => {
    const agents = [
      { name: 'a', runtime: 'claude', permission_mode: 'acceptEdits' },
      { name: 'b', runtime: 'codex', permission_mode: 'workspace-write' },
      { name: 'c', permission_mode: 'bypassPermissions' },
    ]
    const { configuration } = await readConfiguration({ agents })
    expect(configuration.agents.map(({ permissionMode }) => permissionMode)).toEqual([
      'acceptEdits',
      'workspace-write',
      'bypassPermissions',
    ])
  })

  it.each([
    [{ runtime: 'codex', permission_mode: 'acceptEdits' }, '"acceptEdits" is not a permission mode of codex'],
    [{ runtime: 'claude', permission_mode: 'read-only' }, '"read-only" is not a permission mode of claude'],
    [{ permission_mode: 'anything' }, '"anything" is not a permission mode of any runtime'],
    [{ command: 'mine', permission_mode: 'plan' }, 'a command of your own has no permission mode'],
  ])('is refused by name: %j', async (agent, problem) => {
    expect(await problemsOf({ agents: [{ name: 'a', ...agent }] })).toEqual([`agents[0].permission_mode: ${problem}`])
  })
})

describe('context_restart_threshold at the top of a file', () => {
  it('is the restart milestone', async () => {
    const { configuration, settings } = await readConfiguration({ context_restart_threshold: 0.7 })
    expect(configuration.monitor.milestones.at(-1)).toEqual({ name: 'restart', at: 0.7 })
    expect(settings.find(({ key }) => key === 'milestones.restart')?.from).toBe('context_restart_threshold')
  })

  it.each([
    [{ session: { context_handoff_threshold: 0.3 } }, 'session.context_handoff_threshold is there as well'],
    [{ session: { context_restart_threshold: 0.8 } }, 'session.context_restart_threshold puts it at 0.8'],
    [{ milestones: { restart: 0.8 } }, 'milestones.restart puts it at 0.8'],
  ])('is refused beside %j', async (other, problem) => {
    const [found = '', ...more] = await problemsOf({ context_restart_threshold: 0.7, ...other })
    expect(found).toContain(problem)
    expect(more).toEqual([])
  })
})

describe('the place of an agent', () => {
  it('is its own, and that of all where it only adds to it', async () => {
    const { configuration } = await readConfiguration({
      workspace: { working_directory: '/srv/shop', branch: 'main' },
      agents: [
        { name: 'same' },
        { name: 'branch', workspace: { branch: 'docs' } },
        { name: 'other', working_directory: '/srv/web' },
      ],
    })
    expect(configuration.agents.map(({ place }) => place)).toEqual([
      undefined,
      { workspace: { workingDirectory: '/srv/shop', branch: 'docs' } },
      { workspace: { workingDirectory: '/srv/web' } },
    ])
  })

  it('is checked as that of all is', async () => {
    const workspace = { strategy: 'worktree', branch: 'main' }
    expect(await problemsOf({ agents: [{ name: 'a', workspace }] })).toEqual([
      'agents[0].workspace.branch: all conversations would share it',
    ])
  })
})

describe('what a full window leads to', () => {
  const said = async (content: object): Promise<string> =>
    describeFullWindow((await readConfiguration(content)).configuration).join(' ')

  it.each([
    [
      {},
      'At 85 % of the usable window a run restarts in a fresh window, at most 3 times after each new prompt; then the run ends',
    ],
    [{}, 'write context_limit'],
    [{ restart: { policy: 'advise' } }, 'a run says that a restart is due, and does not restart'],
    [{ restart: { policy: 'manual' } }, 'nothing is said or done'],
    [{ restart: { when_exhausted: 'carry_on' } }, 'then the session continues'],
    [{ session: { max_handoffs_per_job: 0 } }, 'no restart is left'],
    [{ context_monitor: { enabled: false } }, 'A full window is not restarted.'],
    [{ agents: [{ name: 'writer', milestones: { restart: 0.7 } }] }, 'Agent "writer": At 70 %'],
  ])('is said of %j', async (content, words) => {
    expect(await said(content)).toContain(words)
  })
})

describe('the schema of a file', () => {
  it('is fresh, and has the words of the guide', () => {
    const stored = readFileSync(join(CLONE, CONFIGURATION_SCHEMA), 'utf8')
    expect(JSON.parse(stored)).toEqual(configurationSchema())
    expect(stored).toContain('when to continue in a fresh window')
  })

  it('is named by a file, which is read all the same', async () => {
    expect(await problemsOf({ $schema: './node_modules/batonpass/docs/schemas/configuration.json' })).toEqual([])
  })
})
