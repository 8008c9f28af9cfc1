import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { gitWorktrees } from '../../../src/adapters/git/git-worktrees.ts'
import { gitIn, repository, temporaryFolder } from './repository.ts'

const plan = (root: string, more: { dir?: string; branch?: string; baseBranch?: string } = {}) => ({
  repository: root,
  dir: '.worktrees',
  branch: 'baton/issue-7',
  ...more,
})

afterEach(() => vi.unstubAllEnvs())

describe('a worktree of a conversation', () => {
  it('is made on a branch of its own, which begins where the repository stands', async () => {
    const root = repository()
    const worktreePath = join(root, '.worktrees', 'baton', 'issue-7')
    expect(await gitWorktrees.place(plan(root))).toEqual({
      workingDirectory: root,
      worktreePath,
      branch: 'baton/issue-7',
      baseBranch: 'main',
    })
    expect(gitIn(worktreePath, 'rev-parse', '--abbrev-ref', 'HEAD')).toBe('baton/issue-7')
    expect(readFileSync(join(worktreePath, 'README.md'), 'utf8')).toBe('Hello\n')
    expect(gitIn(root, 'status', '--porcelain')).toBe('')
  })

  it('is found again as it was left: uncommitted work, new files and commits', async () => {
    const root = repository()
    const first = await gitWorktrees.place(plan(root))
    const folder = first.worktreePath ?? ''
    writeFileSync(join(folder, 'README.md'), 'Half of it\n')
    writeFileSync(join(folder, 'new.txt'), 'new\n')
    expect(await gitWorktrees.place(plan(root))).toMatchObject({ worktreePath: folder, branch: 'baton/issue-7' })
    await gitWorktrees.restore(first)
    expect(gitIn(folder, 'status', '--porcelain')).toBe('M README.md\n?? new.txt')
    expect(gitIn(root, 'worktree', 'list').split('\n')).toHaveLength(2)
  })

  it('does not touch a repository with uncommitted work, and does not take it along', async () => {
    const root = repository()
    writeFileSync(join(root, 'README.md'), 'Mine\n')
    const { worktreePath = '' } = await gitWorktrees.place(plan(root))
    expect(readFileSync(join(root, 'README.md'), 'utf8')).toBe('Mine\n')
    expect(readFileSync(join(worktreePath, 'README.md'), 'utf8')).toBe('Hello\n')
  })

  it('takes a branch that is there, with what is on it, and does not guess where it began', async () => {
    const root = repository()
    gitIn(root, 'switch', '--quiet', '--create', 'baton/issue-7')
    gitIn(root, 'commit', '--quiet', '--allow-empty', '--message', 'Earlier work')
    gitIn(root, 'switch', '--quiet', 'main')
    const placed = await gitWorktrees.place(plan(root))
    expect(placed).not.toHaveProperty('baseBranch')
    expect(gitIn(placed.worktreePath ?? '', 'log', '-1', '--format=%s')).toBe('Earlier work')
  })

  it('begins at the base branch, also at one that only origin has', async () => {
    const origin = repository()
    gitIn(origin, 'switch', '--quiet', '--create', 'develop')
    gitIn(origin, 'commit', '--quiet', '--allow-empty', '--message', 'On develop')
    gitIn(origin, 'switch', '--quiet', 'main')
    const root = join(temporaryFolder(), 'clone')
    gitIn(origin, 'clone', '--quiet', origin, root)
    const placed = await gitWorktrees.place(plan(root, { baseBranch: 'develop' }))
    expect(placed.baseBranch).toBe('develop')
    const folder = placed.worktreePath ?? ''
    expect(gitIn(folder, 'log', '-1', '--format=%s')).toBe('On develop')
    expect(() => gitIn(folder, 'rev-parse', '--abbrev-ref', '@{upstream}')).toThrow()
  })

  it('is made again when its folder was deleted, with the commits of its branch', async () => {
    const root = repository()
    const placed = await gitWorktrees.place(plan(root))
    const folder = placed.worktreePath ?? ''
    gitIn(folder, 'commit', '--quiet', '--allow-empty', '--message', 'Done so far')
    rmSync(folder, { recursive: true, force: true, maxRetries: 10 })
    await gitWorktrees.restore(placed)
    expect(gitIn(folder, 'log', '-1', '--format=%s')).toBe('Done so far')
    rmSync(folder, { recursive: true, force: true, maxRetries: 10 })
    expect(await gitWorktrees.place(plan(root))).toMatchObject({ worktreePath: folder })
    expect(existsSync(join(folder, 'README.md'))).toBe(true)
  })

  it('is the same one for several that ask at once', async () => {
    const root = repository()
    const placed = await Promise.all(Array.from({ length: 4 }, () => gitWorktrees.place(plan(root))))
    expect(new Set(placed.map(({ worktreePath }) => worktreePath)).size).toBe(1)
    expect(gitIn(root, 'worktree', 'list').split('\n')).toHaveLength(2)
  })

  it('may lie outside the repository, and may be asked for from a folder inside it or through a link', async () => {
    const [root, outside] = [repository(), temporaryFolder()]
    mkdirSync(join(root, 'src'))
    const link = join(outside, 'link')
    symlinkSync(root, link)
    const inside = await gitWorktrees.place(plan(join(root, 'src'), { dir: join(outside, 'trees') }))
    expect(inside).toMatchObject({
      workingDirectory: root,
      worktreePath: join(outside, 'trees', 'baton', 'issue-7'),
    })
    expect(existsSync(join(outside, 'trees', '.gitignore'))).toBe(false)
    expect(await gitWorktrees.place(plan(link, { dir: join(outside, 'trees') }))).toMatchObject({
      worktreePath: inside.worktreePath,
    })
  })

  it('is not misled by the variables of a git hook that called us', async () => {
    const [root, other] = [repository(), repository()]
    vi.stubEnv('GIT_DIR', join(other, '.git'))
    vi.stubEnv('GIT_WORK_TREE', other)
    const { workingDirectory } = await gitWorktrees.place(plan(root))
    vi.unstubAllEnvs()
    expect(workingDirectory).toBe(root)
    expect(gitIn(other, 'worktree', 'list').split('\n')).toHaveLength(1)
  })
})

describe('a worktree that cannot be made', () => {
  const refused = (code: string, message: RegExp) => ({
    name: 'WorktreeFailure',
    code,
    message: expect.stringMatching(message),
  })

  it('says that something else is in its place, and leaves that alone', async () => {
    const root = repository()
    const path = join(root, '.worktrees', 'baton', 'issue-7')
    mkdirSync(path, { recursive: true })
    writeFileSync(join(path, 'mine.txt'), 'mine')
    await expect(gitWorktrees.place(plan(root))).rejects.toMatchObject(
      refused('worktree.path_taken', /is there, and is no worktree\. Move it away/),
    )
    expect(readFileSync(join(path, 'mine.txt'), 'utf8')).toBe('mine')
    expect(() => gitIn(root, 'rev-parse', '--verify', 'baton/issue-7')).toThrow()
  })

  it('follows no link that is in its place', async () => {
    const [root, elsewhere] = [repository(), temporaryFolder()]
    mkdirSync(join(root, '.worktrees', 'baton'), { recursive: true })
    symlinkSync(elsewhere, join(root, '.worktrees', 'baton', 'issue-7'))
    await expect(gitWorktrees.place(plan(root))).rejects.toMatchObject(refused('worktree.path_taken', /no worktree/))
  })

  it('says where its branch is checked out', async () => {
    const root = repository()
    gitIn(root, 'switch', '--quiet', '--create', 'baton/issue-7')
    await expect(gitWorktrees.place(plan(root))).rejects.toMatchObject(
      refused('worktree.branch_in_use', /is checked out in ".*"\. Switch that one/),
    )
  })

  it('says that its folder is on another branch', async () => {
    const root = repository()
    const { worktreePath = '' } = await gitWorktrees.place(plan(root))
    gitIn(worktreePath, 'switch', '--quiet', '--create', 'another')
    await expect(gitWorktrees.place(plan(root))).rejects.toMatchObject(
      refused('worktree.path_taken', /is on the branch "another"\. Switch it to "baton\/issue-7"/),
    )
    // A conversation that had it already goes on there: what an agent did in it is its work.
    await gitWorktrees.restore({ workingDirectory: root, worktreePath, branch: 'baton/issue-7' })
    expect(gitIn(worktreePath, 'rev-parse', '--abbrev-ref', 'HEAD')).toBe('another')
  })

  it('says that there is no repository, no folder, no commit, or no such base', async () => {
    const folder = temporaryFolder()
    await expect(gitWorktrees.place(plan(folder))).rejects.toMatchObject(
      refused('worktree.no_repository', /is in no git repository/),
    )
    await expect(gitWorktrees.place(plan(join(folder, 'none')))).rejects.toMatchObject(
      refused('worktree.no_repository', /There is no folder/),
    )
    gitIn(folder, 'init', '--quiet')
    await expect(gitWorktrees.place(plan(folder))).rejects.toMatchObject(refused('worktree.no_base', /no commit yet/))
    await expect(gitWorktrees.place(plan(repository(), { baseBranch: 'trunk' }))).rejects.toMatchObject(
      refused('worktree.no_base', /There is no branch "trunk"/),
    )
  })

  it('says that there is no git', async () => {
    const root = repository()
    vi.stubEnv('PATH', temporaryFolder())
    await expect(gitWorktrees.place(plan(root))).rejects.toMatchObject(refused('worktree.no_git', /git was not found/))
  })

  it.each(['--detach', '-f', '../up', 'a b', 'a\nb'])('takes no hostile name, whoever asks: %j', async (name) => {
    const root = repository()
    await expect(gitWorktrees.place(plan(root, { branch: name }))).rejects.toMatchObject({ code: 'worktree.failed' })
    await expect(gitWorktrees.place(plan(root, { baseBranch: name }))).rejects.toMatchObject({
      code: 'worktree.failed',
    })
    expect(gitIn(root, 'worktree', 'list').split('\n')).toHaveLength(1)
  })
})
