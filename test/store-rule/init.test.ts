import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { createBatonpass, unwrap } from '../../src/entry/index.ts'
import { openPglite } from '../../src/entry/postgres.ts'
import { batonWith } from '../cli/terminal.ts'

let [room, home, job, src] = ['', '', '', '']
const before = process.cwd()

beforeEach(() => {
  room = realpathSync(mkdtempSync(join(tmpdir(), 'batonpass-init-')))
  home = join(room, 'home')
  job = join(home, 'job')
  src = join(job, 'src')
  mkdirSync(src, { recursive: true })
  vi.stubEnv('HOME', home)
  process.chdir(job)
})
afterEach(() => {
  process.chdir(before)
  vi.unstubAllEnvs()
  rmSync(room, { recursive: true, force: true, maxRetries: 10 })
})

const baton = (...args: readonly string[]) => batonWith({ HOME: home })(...args)

/** The store that a command in the working folder uses, by where it does not find one. */
const usedFrom = async (folder: string): Promise<string> => {
  process.chdir(folder)
  const { err } = await baton('conversations', 'list')
  process.chdir(job)
  return /There is no embedded store in (.*), and reading/.exec(err)?.[1] ?? err
}

const own = (): string => join(home, '.batonpass')
const project = (): string => join(job, '.batonpass')
const idIn = (): string => readFileSync(join(project(), 'store.id'), 'utf8')

/** The commands that a text offers, as somebody types them. */
const offered = (text: string): readonly (readonly string[])[] =>
  [...text.matchAll(/baton (init .*)$/gm)].map(([, words = '']) => words.replaceAll("'", '').split(' '))

describe('baton init', () => {
  it('makes a project store that everything in the folder and below it uses', async () => {
    expect(await usedFrom(src)).toBe(own())
    expect(await baton('init')).toMatchObject({ code: 0, err: '', out: expect.stringContaining(project()) })
    expect(await usedFrom(job)).toBe(project())
    expect(await usedFrom(src)).toBe(project())
    expect(await usedFrom(home)).toBe(own())
    expect(statSync(project()).mode & 0o777).toBe(0o700)
    expect(statSync(join(project(), 'store.id')).mode & 0o777).toBe(0o600)
  })

  it('done again changes nothing, and may name the folder', async () => {
    await baton('init')
    const id = idIn()
    process.chdir(home)
    expect(await baton('init', job)).toMatchObject({ code: 0, out: expect.stringContaining('already') })
    expect(idIn()).toBe(id)
  })

  it('is in no commit', async () => {
    execFileSync('git', ['init', '-q'])
    await baton('init')
    expect(execFileSync('git', ['status', '--porcelain', '--untracked-files=all'], { encoding: 'utf8' })).toBe('')
  })

  it.each([
    ['the home folder', () => home, 'init.home_folder'],
    ['a folder that is not there', () => join(room, 'nowhere'), 'init.no_folder'],
  ])('refuses %s, and makes nothing', async (_, folder, code) => {
    const said = await baton('init', folder())
    expect(said).toMatchObject({ code: 3, err: expect.stringContaining(code) })
    expect(existsSync(own())).toBe(false)
  })

  it.skipIf(process.getuid?.() !== 0)('refuses a folder of another user, and finds no store above one', async () => {
    await baton('init')
    execFileSync('chown', ['12345', src])
    expect(await baton('init', src)).toMatchObject({ code: 3, err: expect.stringContaining('init.not_own') })
    expect(await usedFrom(src)).toBe(own())
  })

  it('refuses both ways at once', async () => {
    expect((await baton('init', '--adopt', '--move')).code).toBe(2)
  })
})

describe('a .batonpass that is not on the list', () => {
  const strange = async (make: () => void): Promise<string> => {
    make()
    process.chdir(job)
    const { err } = await baton('conversations', 'list')
    expect(err).toContain(`${project()} is not used`)
    expect(await usedFrom(job)).toBe(own())
    return err
  }

  it('came with a repository: it is named, used by nothing, and adopted by the command that is printed', async () => {
    const err = await strange(() => {
      mkdirSync(project(), { mode: 0o755 })
      writeFileSync(join(project(), 'store.id'), '0190a0a0-0000-7000-8000-000000000001\n')
    })
    expect(await baton('init')).toMatchObject({ code: 3, err: expect.stringContaining('baton init --adopt\n') })
    const [adopt = []] = offered(err)
    expect(adopt).toEqual(['init', '--adopt'])
    expect((await baton(...adopt)).code).toBe(0)
    expect(idIn()).not.toContain('000000000001')
    expect(statSync(project()).mode & 0o777).toBe(0o700)
    expect(await usedFrom(src)).toBe(project())
    expect((await baton('init', '--adopt')).out).toContain('already')
  })

  it('is named from below with commands that work there', async () => {
    mkdirSync(project(), { mode: 0o700 })
    process.chdir(src)
    const { err } = await baton('conversations', 'list')
    const [adopt = []] = offered(err)
    expect(adopt).toEqual(['init', '--adopt', job])
    expect((await baton(...adopt)).code).toBe(0)
    expect(await usedFrom(src)).toBe(project())
  })

  it('was moved, or stands where another was', async () => {
    await baton('init')
    const moved = join(home, 'moved')
    renameSync(job, moved)
    process.chdir(moved)
    expect((await baton('conversations', 'list')).err).toContain(`${join(moved, '.batonpass')} is not used`)
    mkdirSync(src, { recursive: true })
    await strange(() => mkdirSync(project(), { mode: 0o700 }))
  })

  it('is open to others, or a link', async () => {
    await baton('init')
    await strange(() => chmodSync(project(), 0o750))
    chmodSync(project(), 0o700)
    const elsewhere = join(room, 'elsewhere')
    const err = await strange(() => {
      renameSync(project(), elsewhere)
      symlinkSync(elsewhere, project())
    })
    expect(err).not.toContain('--adopt')
    expect(await baton('init', '--adopt')).toMatchObject({ code: 3, err: expect.stringContaining('init.not_own') })
  })

  it('does not hide a known one above it', async () => {
    await baton('init')
    mkdirSync(join(src, '.batonpass'), { mode: 0o700 })
    expect(await usedFrom(src)).toBe(project())
  })

  it('has nothing to adopt or to move where there is none', async () => {
    expect(await baton('init', '--adopt')).toMatchObject({ code: 3, err: expect.stringContaining('init.nothing') })
    expect(await baton('init', '--move')).toMatchObject({ code: 3, err: expect.stringContaining('init.nothing') })
    expect(existsSync(project())).toBe(false)
  })
})

describe('an older store', () => {
  const older = async (): Promise<void> => {
    await using batonpass = await createBatonpass({ dataDir: project() })
    unwrap(await batonpass.handoffs.openConversation({ originalTask: 'Fix it', externalKey: 'older' }))
  }

  it('is moved to the home folder by the command that is printed, with what is in it', async () => {
    await older()
    const move = offered((await baton('conversations', 'list')).err).find((words) => words.includes('--move')) ?? []
    const open = await openPglite({ dataDir: project() })
    expect(await baton(...move)).toMatchObject({ code: 3, err: expect.stringContaining('init.in_use') })
    await open[Symbol.asyncDispose]()
    expect(await baton(...move)).toMatchObject({ code: 0, out: expect.stringContaining(own()) })
    expect(readdirSync(job)).toEqual(['src'])
    const { code, out } = await baton('conversations', 'list')
    expect({ code, out }).toMatchObject({ code: 0, out: expect.stringContaining('older') })
    // A second one cannot be made one with it, and is not offered to be.
    await older()
    expect((await baton('conversations', 'list')).err).not.toContain('--move')
    expect(await baton('init', '--move')).toMatchObject({ code: 3, err: expect.stringContaining('init.there') })
  })
})
