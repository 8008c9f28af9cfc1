import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { openPglite } from '../../src/entry/postgres.ts'
import { makeStore } from './made-store.ts'
import { temporaryFolder } from './temporary-folder.ts'

/** What git would offer to a commit in a repository. */
const offered = (repository: string): string =>
  execFileSync('git', ['status', '--porcelain', '--untracked-files=all'], { cwd: repository, encoding: 'utf8' })

/** From a dump: how the database itself is made is of no interest to git. */
const opened = makeStore

describe('the folder of an embedded store', () => {
  it.each(['.batonpass', 'elsewhere'])('that is made in a repository is in no commit: %s', async (name) => {
    const repository = temporaryFolder()
    execFileSync('git', ['init', '-q'], { cwd: repository })
    // From nothing, as a person does.
    await (await openPglite({ dataDir: join(repository, name) }))[Symbol.asyncDispose]()
    expect(existsSync(join(repository, name, 'data', 'PG_VERSION'))).toBe(true)
    expect(offered(repository)).toBe('')
  })

  it('of an older store is ignored from the next opening on', async () => {
    const repository = temporaryFolder()
    execFileSync('git', ['init', '-q'], { cwd: repository })
    mkdirSync(join(repository, '.batonpass'), { mode: 0o700 })
    await opened(join(repository, '.batonpass'))
    expect(offered(repository)).toBe('')
  })

  it('that was made empty for it is in no commit', async () => {
    const repository = temporaryFolder()
    execFileSync('git', ['init', '-q'], { cwd: repository })
    mkdirSync(join(repository, 'elsewhere'), { mode: 0o700 })
    await opened(join(repository, 'elsewhere'))
    expect(offered(repository)).toBe('')
  })

  it('keeps what a person wrote', async () => {
    const folder = join(temporaryFolder(), '.batonpass')
    mkdirSync(folder, { mode: 0o700 })
    writeFileSync(join(folder, '.gitignore'), '!keep\n')
    await opened(folder)
    expect(readFileSync(join(folder, '.gitignore'), 'utf8')).toBe('!keep\n')
  })

  it('that was there with other things in it hides none of them', async () => {
    const folder = join(temporaryFolder(), 'work')
    mkdirSync(folder, { mode: 0o700 })
    writeFileSync(join(folder, 'notes.md'), 'mine')
    await opened(folder)
    expect(existsSync(join(folder, '.gitignore'))).toBe(false)
  })
})
