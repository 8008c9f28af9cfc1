import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import type { Conversation } from '../../src/entry/index.ts'
import { gitIn, repository, temporaryFolder } from '../adapters/git/repository.ts'
import { AGENT_COMMAND, database, spawnBaton } from './spawned.ts'
import { batonOn } from './terminal.ts'

let url: string
beforeAll(async () => {
  url = await database()
})

const configFile = (text: string): string => {
  const file = join(temporaryFolder(), 'batonpass.yaml')
  writeFileSync(file, text)
  return file
}

const run = (environment: Readonly<Record<string, string>>, ...args: readonly string[]) =>
  spawnBaton(['run', ...args], { BATONPASS_DATABASE_URL: url, SCRIPT: 'say:1000', ...environment }).ended

const conversation = async (key: string): Promise<Conversation> =>
  JSON.parse((await batonOn(url)('conversations', 'show', '--key', key, '--json')).out) as Conversation

describe('baton run with a worktree strategy', () => {
  it('makes the worktree of the conversation, works there, and finds it again', async () => {
    const root = repository()
    const file = configFile(`
working_directory: { root: "${root}", default_branch: main }
workspace: { strategy: worktree, branch_pattern: "agents/{agent}/{job}" }
hooks:
  on_session_start: [{ type: shell, command: "pwd -P >> where.txt" }]
`)
    const flags = ['--command', AGENT_COMMAND, '--agent', 'writer', '--config', file, '--conversation', 'tree 1']
    expect(await run({}, ...flags, 'Fix it')).toMatchObject({ code: 0 })
    const { workspace } = await conversation('tree 1')
    const worktreePath = workspace?.worktreePath ?? ''
    expect(workspace).toMatchObject({ workingDirectory: root, baseBranch: 'main' })
    expect(workspace?.branch).toMatch(/^agents\/writer\/tree-1-[0-9a-f]{8}$/)
    expect(worktreePath).toBe(join(root, '.worktrees', ...(workspace?.branch ?? '').split('/')))
    expect(gitIn(worktreePath, 'rev-parse', '--abbrev-ref', 'HEAD')).toBe(workspace?.branch)

    expect(await run({}, ...flags, 'Now write the docs')).toMatchObject({ code: 0 })
    expect(readFileSync(join(worktreePath, 'where.txt'), 'utf8')).toBe(`${worktreePath}\n${worktreePath}\n`)
    expect(gitIn(root, 'worktree', 'list').split('\n')).toHaveLength(2)

    rmSync(worktreePath, { recursive: true, force: true, maxRetries: 10 })
    expect(await run({}, ...flags, 'And the tests')).toMatchObject({ code: 0 })
    expect(existsSync(join(worktreePath, 'README.md'))).toBe(true)
    const shown = (await batonOn(url)('conversations', 'show', '--key', 'tree 1')).out
    expect(shown).toMatch(/^base branch +main$/m)
  })

  it('ends with status 3 and what to do when it cannot be made, and nothing is stored', async () => {
    const folder = temporaryFolder()
    const file = configFile('workspace: { strategy: worktree }')
    const flags = ['--command', AGENT_COMMAND, '--config', file, '--cwd', folder, '--conversation', 'no-tree']
    const { code, err } = await run({}, ...flags, 'Fix it')
    expect(code).toBe(3)
    expect(err).toMatch(/is in no git repository\. Name one with --cwd .* \(worktree\.no_repository\)/)
    expect((await batonOn(url)('conversations', 'show', '--key', 'no-tree')).code).toBe(3)
  })

  it('refuses a hostile key', async () => {
    const file = configFile('workspace: { strategy: worktree }')
    const flags = ['--command', AGENT_COMMAND, '--config', file, '--cwd', repository()]
    const { code, err } = await run({}, ...flags, '--conversation=../../up', 'Fix it')
    expect(code).toBe(3)
    expect(err).toMatch(/"\.\.\/\.\.\/up" cannot be a part of a branch: .* Choose another key/)
  })

  it('keeps a base branch that a flag names', async () => {
    const flags = ['--command', AGENT_COMMAND, '--branch', 'fix', '--base-branch', 'trunk', '--conversation', 'based']
    expect(await run({}, ...flags, 'Fix it')).toMatchObject({ code: 0 })
    expect((await conversation('based')).workspace).toMatchObject({ branch: 'fix', baseBranch: 'trunk' })
  })
})

describe('baton run with agents in the configuration', () => {
  const agents = () =>
    configFile(`
session: { max_handoffs_per_job: 4 }
hooks:
  after_run: [{ type: shell, name: whole, command: "echo whole >> hooks.txt" }]
agents:
  - name: writer
    command: ${JSON.stringify(AGENT_COMMAND)}
    session: { context_restart_threshold: 0.1, max_handoffs_per_job: 2 }
    hooks:
      after_run: [{ type: shell, name: own, command: "echo own >> hooks.txt" }]
  - name: reviewer
    command: ${JSON.stringify(AGENT_COMMAND)}
`)

  it('takes the runtime, thresholds, budget and hooks of the one that is named', async () => {
    const [file, folder] = [agents(), temporaryFolder()]
    const scene = { SCRIPT: 'turn:1000 turn:30000 wait', SCRIPT_LATER: 'say:1000' }
    const flags = ['--config', file, '--cwd', folder, '--conversation', 'by-writer']
    const { code, err } = await run(scene, ...flags, '--agent', 'writer', 'Fix it')
    expect(code).toBe(0)
    expect(err).toMatch(/completed: 2 sessions, .*1 restart/)
    expect((await conversation('by-writer')).restartBudget.maxRestarts).toBe(2)
    expect(readFileSync(join(folder, 'hooks.txt'), 'utf8')).toBe('own\n')
    const { out } = await batonOn(url)('sessions', 'show', '--key', 'by-writer', '--json')
    expect(JSON.parse(out)).toMatchObject({ agentName: 'writer', backend: 'command' })
  })

  it('leaves the whole configuration to one that says nothing', async () => {
    const [file, folder] = [agents(), temporaryFolder()]
    const flags = ['--config', file, '--cwd', folder, '--conversation', 'by-reviewer', '--agent', 'reviewer']
    const { code, err } = await run({ SCRIPT: 'turn:1000 say:30000' }, ...flags, 'Fix it')
    expect(code).toBe(0)
    expect(err).toMatch(/completed: 1 session, .*0 restarts/)
    expect((await conversation('by-reviewer')).restartBudget.maxRestarts).toBe(4)
    expect(readFileSync(join(folder, 'hooks.txt'), 'utf8')).toBe('whole\n')
  })

  it.each([
    [['--agent', 'reviwer'], '--agent: the configuration has no agent "reviwer". Did you mean "reviewer"?'],
    [['--agent', 'zzz'], '--agent: the configuration has no agent "zzz". It has: writer, reviewer.'],
    [[], 'The configuration has several agents. Name one with --agent: writer, reviewer.'],
  ])('refuses %j', async (flags, message) => {
    const { code, err } = await run({}, '--config', agents(), ...flags, 'Fix it')
    expect(code).toBe(2)
    expect(err).toContain(message)
  })
})
