import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, realpathSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { AGENT_COMMAND, database, folder, spawnBaton } from './spawned.ts'
import { batonOn } from './terminal.ts'

let url: string
beforeAll(async () => {
  url = await database()
})

const git = (cwd: string, ...args: readonly string[]): string =>
  execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@example.org', ...args], {
    cwd,
    encoding: 'utf8',
  }).trim()

/** A repository with a commit and a branch beside it. */
const repository = (root: string, name: string): string => {
  const path = join(root, name)
  mkdirSync(path)
  git(path, 'init', '--quiet', '--initial-branch', 'main')
  git(path, 'commit', '--quiet', '--allow-empty', '-m', 'first')
  return realpathSync(path)
}

/** An agent that notes where it works and on which branch, and then follows its script. */
const noting = (script: string) =>
  `(pwd; git branch --show-current) > where-it-was.txt; SCRIPT="${script}" ${AGENT_COMMAND}`

const noted = (place: string): readonly string[] =>
  readFileSync(join(place, 'where-it-was.txt'), 'utf8').trim().split('\n')

const run = (cwd: string, ...args: readonly string[]) =>
  spawnBaton(['run', ...args, '--cwd', cwd], { BATONPASS_DATABASE_URL: url }).ended

const runHere = (...args: readonly string[]) => spawnBaton(['run', ...args], { BATONPASS_DATABASE_URL: url }).ended

describe('two agents of a file in two repositories', () => {
  it('work each in its own, one on a branch of its own', async () => {
    const root = folder()
    const [api, web] = [repository(root, 'api'), repository(root, 'web')]
    const file = join(root, 'team.json')
    writeFileSync(
      file,
      JSON.stringify({
        agents: [
          {
            ...{ name: 'backend', command: noting('turn:1000 to:frontend wait') },
            workspace: { working_directory: api, strategy: 'worktree', branch_pattern: 'job/{agent}/{job}' },
          },
          { name: 'frontend', command: noting('say:2000'), working_directory: web },
        ],
      }),
    )
    const { code, err } = await runHere('--agents', file, '--conversation', 'shop', 'Add a field')
    expect(code, err).toBe(0)
    const worktree = join(api, '.worktrees', 'job/backend/shop')
    expect(noted(worktree)).toEqual([worktree, 'job/backend/shop'])
    expect(noted(web)).toEqual([web, 'main'])
    expect(existsSync(join(api, 'where-it-was.txt'))).toBe(false)
    expect(git(api, 'branch', '--show-current')).toBe('main')
  })

  it('are refused by name with a flag that would move them', async () => {
    const root = folder()
    const file = join(root, 'team.json')
    const agents = [{ name: 'backend', command: 'true', working_directory: repository(root, 'api') }]
    writeFileSync(file, JSON.stringify({ agents }))
    const { code, err } = await run(root, '--agents', file, 'Add a field')
    expect({ code, err }).toEqual({
      code: 2,
      err: expect.stringContaining('--cwd does not go with the agent "backend", which has a workspace.') as unknown,
    })
  })

  it('are not begun when the folder of one of them is not there', async () => {
    const root = folder()
    const api = repository(root, 'api')
    const file = join(root, 'team.json')
    const agents = [
      { name: 'backend', command: noting('say:1'), working_directory: api },
      { name: 'frontend', command: 'true', working_directory: join(root, 'web') },
    ]
    writeFileSync(file, JSON.stringify({ agents }))
    const { code, err } = await runHere('--agents', file, 'Add a field')
    expect({ code, err }).toEqual({
      code: 2,
      err: expect.stringContaining(`There is no folder "${join(root, 'web')}"`) as unknown,
    })
    expect(existsSync(join(api, 'where-it-was.txt'))).toBe(false)
  })
})

describe('one agent of a file', () => {
  it('works in its own place, which its conversation keeps', async () => {
    const root = folder()
    const [api, web] = [repository(root, 'api'), repository(root, 'web')]
    const file = join(root, 'team.json')
    const agents = [
      { name: 'backend', command: noting('say:1'), workspace: { working_directory: api } },
      { name: 'frontend', command: noting('say:1'), workspace: { working_directory: web } },
    ]
    writeFileSync(file, JSON.stringify({ agents }))
    const asked = ['--config', file, '--agent', 'frontend', '--conversation', 'alone', 'Add a field']
    expect((await runHere(...asked)).code).toBe(0)
    expect(noted(web)).toEqual([web, 'main'])
    const shown = await batonOn(url)('conversations', 'show', '--key', 'alone', '--json')
    expect(shown.out).toContain(web)
  })
})
