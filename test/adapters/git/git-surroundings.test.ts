import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { isKeptByGit } from '../../../src/adapters/git/git-files.ts'
import { gitWorktrees } from '../../../src/adapters/git/git-worktrees.ts'
import { gitIn, repository, temporaryFolder } from './repository.ts'

afterEach(() => vi.unstubAllEnvs())

/** A program that writes down its environment, and answers as a filter does: with what it read. */
const spyIn = (
  folder: string,
  name: string,
  answer = 'cat',
): { readonly path: string; readonly seen: () => string | undefined } => {
  const [path, notes] = [join(folder, name), join(folder, `${name}.seen`)]
  mkdirSync(folder, { recursive: true })
  writeFileSync(path, `#!/bin/sh\nenv > '${notes}'\n${answer}\n`)
  chmodSync(path, 0o755)
  return { path, seen: () => (existsSync(notes) ? readFileSync(notes, 'utf8') : undefined) }
}

/** Everything that somebody who keeps the store has in the environment, and that a repository has no business in. */
const SECRETS = {
  DATABASE_URL: 'postgres://baton:planted-secret@localhost/baton',
  BATONPASS_DATABASE_URL: 'postgres://baton:planted-secret@localhost/baton',
  PGPASSWORD: 'planted-secret',
  ANTHROPIC_API_KEY: 'planted-secret',
  SSH_AUTH_SOCK: '/planted-secret',
  GIT_ASKPASS: '/planted-secret',
} as const

const withSecrets = (): void => {
  for (const [name, value] of Object.entries(SECRETS)) vi.stubEnv(name, value)
}

const plan = (root: string) => ({ repository: root, dir: '.worktrees', branch: 'baton/issue-7' })

describe('git in the repository of somebody else', () => {
  const HOOKS = ['post-checkout', 'reference-transaction', 'post-index-change']

  it.each(HOOKS)('does not run its hook %s', async (name) => {
    const root = repository()
    const { seen } = spyIn(join(root, '.git', 'hooks'), name, 'exit 0')
    withSecrets()
    await gitWorktrees.place(plan(root))
    expect(seen()).toBeUndefined()
  })

  it('does not run hooks from a folder that its configuration names', async () => {
    const root = repository()
    const { seen } = spyIn(join(root, 'named'), 'post-checkout', 'exit 1')
    gitIn(root, 'config', 'core.hooksPath', join(root, 'named'))
    withSecrets()
    await gitWorktrees.place(plan(root))
    expect(seen()).toBeUndefined()
  })

  it('does not run the watcher of its files', async () => {
    const root = repository()
    const { path, seen } = spyIn(join(root, '.git'), 'watcher', 'exit 1')
    gitIn(root, 'config', 'core.fsmonitor', path)
    // An index that knows of a watcher asks it even for a list of ignored files.
    gitIn(root, 'update-index', '--fsmonitor')
    writeFileSync(`${path}.seen`, 'nothing yet')
    withSecrets()
    await gitWorktrees.place(plan(root))
    await isKeptByGit(root, 'README.md')
    expect(seen()).toBe('nothing yet')
  })

  it('runs no program that would fetch what is missing', async () => {
    const origin = repository()
    gitIn(origin, 'config', 'uploadpack.allowFilter', 'true')
    const root = join(temporaryFolder(), 'clone')
    gitIn(origin, 'clone', '--quiet', '--no-checkout', '--filter=blob:none', `file://${origin}`, root)
    const { path, seen } = spyIn(join(root, '.git'), 'fetcher', 'exit 1')
    gitIn(root, 'config', 'protocol.ext.allow', 'always')
    gitIn(root, 'remote', 'set-url', 'origin', `ext::${path}`)
    withSecrets()
    await expect(gitWorktrees.place(plan(root))).rejects.toMatchObject({ code: 'worktree.failed' })
    expect(seen()).toBeUndefined()
  })

  // A filter is how large files and encrypted ones come into a folder, so it must run; it knows nothing of us.
  it('runs the filters of its files with none of our secrets', async () => {
    const root = repository()
    const { path, seen } = spyIn(join(root, '.git'), 'filter')
    gitIn(root, 'config', 'filter.spy.smudge', path)
    writeFileSync(join(root, '.gitattributes'), '*.md filter=spy\n')
    gitIn(root, 'add', '.')
    gitIn(root, 'commit', '--quiet', '--message', 'Filter')
    withSecrets()
    await gitWorktrees.place(plan(root))
    const names = (seen() ?? '').split('\n').map((line) => line.split('=')[0])
    expect(names).toContain('PATH')
    expect(seen()).not.toContain('planted-secret')
    for (const name of Object.keys(SECRETS)) expect(names).not.toContain(name)
  })
})
