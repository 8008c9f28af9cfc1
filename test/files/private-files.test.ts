import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  chownSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { FolderBusy, removeAbandoned, withFolder, withFolderSync } from '../../src/adapters/files/folder-lock.ts'
import { NotOwn, ownFolder, readOwnFile } from '../../src/adapters/files/own-files.ts'
import { ownName, readOwnName } from '../../src/adapters/files/own-names.ts'
import { changeList, readList } from '../../src/adapters/files/private-list.ts'
import { fateOf } from '../../src/adapters/files/process-fate.ts'
import { makeWhole, writeDraft, writeWhole } from '../../src/adapters/files/whole-file.ts'
import { readProcess } from '../../src/processes/process-table.ts'

const SIZE = 400_000
const MOST_BYTES = 1024 * 1024

let folder = ''
const at = (name: string): string => join(folder, name)
const modeOf = (name: string): number => statSync(at(name)).mode & 0o777
const left = (): readonly string[] => readdirSync(folder).filter((name) => name.startsWith('.batonpass-'))

const children: ChildProcess[] = []

/** Starts a process with everything that the module exports. */
const started = (work: string): ChildProcess => {
  const of = (name: string): string =>
    JSON.stringify(fileURLToPath(new URL(`../../src/adapters/files/${name}.ts`, import.meta.url)))
  const script = `const { readFileSync, writeFileSync } = await import('node:fs')
    const { writeWhole, makeWhole } = await import(${of('whole-file')})
    const { withFolder, withFolderSync } = await import(${of('folder-lock')})
    const { changeList } = await import(${of('private-list')})
    const folder = ${JSON.stringify(folder)}
    ${work}`
  const child = spawn(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  children.push(child)
  return child
}

const exitOf = async (child: ChildProcess): Promise<unknown> =>
  child.exitCode ?? child.signalCode ?? (await once(child, 'exit'))[0]

const saysSomething = (child: ChildProcess): Promise<unknown> => once(child.stdout ?? child, 'data')

const WRITE_FOR_EVER = `process.stdout.write('begun')
  for (let i = 0; ; i += 1) writeWhole(folder + '/file', String.fromCharCode(97 + (i % 26)).repeat(${SIZE}))`

/** A process that has taken the lock of the folder, and keeps it. */
const holder = async (): Promise<ChildProcess> => {
  const child = started(`await withFolder(folder, () => {
    process.stdout.write('held')
    return new Promise((resolve) => setTimeout(resolve, 60_000))
  })`)
  await saysSomething(child)
  return child
}

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'batonpass-files-'))
})
afterEach(async () => {
  for (const child of children.splice(0)) {
    child.kill('SIGKILL')
    await exitOf(child)
  }
  rmSync(folder, { recursive: true, force: true })
})

describe('a file that is written whole', () => {
  it('is for its owner only, unless rights are named; the rights of a file of a person are kept exactly', () => {
    const before = process.umask(0o077)
    try {
      writeWhole(at('own'), 'a')
      writeWhole(at('shared'), 'b', { mode: 0o644 })
      writeWhole(at('as-before'), 'c', { takesOver: { mode: 0o664 } })
    } finally {
      process.umask(before)
    }
    expect([modeOf('own'), modeOf('shared'), modeOf('as-before')]).toEqual([0o600, 0o600, 0o664])
  })

  it('is seen old or new by a reader, and never half', async () => {
    writeWhole(at('file'), 'a'.repeat(SIZE))
    const writer = started(WRITE_FOR_EVER)
    await saysSomething(writer)
    const seen = new Set<string>()
    for (let reads = 0; reads < 300 || seen.size < 3; reads += 1) {
      const text = readOwnFile(at('file'), MOST_BYTES) ?? ''
      expect(text).toHaveLength(SIZE)
      expect(text === text.charAt(0).repeat(SIZE)).toBe(true)
      seen.add(text.charAt(0))
    }
    expect(seen.size).toBeGreaterThan(2)
  })

  it('is there whole after its writer was killed, and nothing else is for long', async () => {
    let drafts = 0
    for (let kills = 0; kills < 8; kills += 1) {
      const writer = started(WRITE_FOR_EVER)
      await saysSomething(writer)
      await pause(kills * 3)
      writer.kill('SIGKILL')
      await exitOf(writer)
      const text = existsSync(at('file')) ? readFileSync(at('file'), 'utf8') : undefined
      expect(text === undefined || text === text.charAt(0).repeat(SIZE)).toBe(true)
      drafts += left().length
      removeAbandoned(folder)
      expect(left()).toEqual([])
    }
    // Otherwise no kill came in the middle, and the test has shown nothing.
    expect(drafts).toBeGreaterThan(0)
  })

  it('is one of those that two writers wrote at once, and neither fails', async () => {
    const write = (letter: string): string =>
      `for (let i = 0; i < 200; i += 1) writeWhole(folder + '/file', '${letter}'.repeat(${SIZE}))`
    const writers = [started(write('a')), started(write('b'))]
    expect(await Promise.all(writers.map(exitOf))).toEqual([0, 0])
    expect(['a'.repeat(SIZE), 'b'.repeat(SIZE)]).toContain(readFileSync(at('file'), 'utf8'))
    expect(readdirSync(folder)).toEqual(['file'])
  })

  it('takes the place of a link, and leaves alone what the link leads to', () => {
    writeFileSync(at('theirs'), 'theirs')
    symlinkSync('theirs', at('file'))
    writeWhole(at('file'), 'ours')
    expect(lstatSync(at('file')).isSymbolicLink()).toBe(false)
    expect([readFileSync(at('file'), 'utf8'), readFileSync(at('theirs'), 'utf8')]).toEqual(['ours', 'theirs'])
  })

  it('is not written through a link that stands where its draft should, and that link stays', () => {
    writeFileSync(at('theirs'), 'theirs')
    symlinkSync('theirs', at('draft'))
    expect(() => writeWhole(at('file'), 'ours', { draft: at('draft') })).toThrow('EEXIST')
    expect(readFileSync(at('theirs'), 'utf8')).toBe('theirs')
    expect(readdirSync(folder).sort()).toEqual(['draft', 'theirs'])
  })

  it('stays as it is when it is not wanted any more, which is asked after the new one is written', () => {
    writeFileSync(at('file'), 'old')
    const looks: string[] = []
    const isStillWanted = (): boolean => {
      looks.push(...left().map((name) => readFileSync(at(name), 'utf8')))
      return false
    }
    expect(writeWhole(at('file'), 'new', { isStillWanted })).toBe(false)
    expect(looks).toEqual(['new'])
    expect([readFileSync(at('file'), 'utf8'), readdirSync(folder)]).toEqual(['old', ['file']])
  })

  it('leaves no draft where it cannot take its name, or cannot be given its rights', () => {
    mkdirSync(at('file'))
    writeFileSync(join(at('file'), 'inside'), '')
    expect(() => writeWhole(at('file'), 'new')).toThrow()
    expect(() => writeDraft(at('draft'), 'new', { takesOver: { mode: 0o600, owner: { uid: -5, gid: -5 } } })).toThrow()
    expect(readdirSync(folder)).toEqual(['file'])
  })
})

describe('a file that is made whole', () => {
  it('is not made where the name is taken, be it by a link that leads nowhere', () => {
    writeFileSync(at('file'), 'theirs')
    symlinkSync('nothing', at('link'))
    expect([makeWhole(at('file'), 'ours'), makeWhole(at('link'), 'ours')]).toEqual([false, false])
    expect(readFileSync(at('file'), 'utf8')).toBe('theirs')
    expect(readdirSync(folder).sort()).toEqual(['file', 'link'])
  })

  it('is made once by several processes at once, and whole', async () => {
    const work = `const start = ${Date.now() + 1_500}
      while (Date.now() < start);
      for (let i = 0; i < 50; i += 1)
        if (makeWhole(folder + '/file-' + i, String(process.pid).repeat(10_000)))
          writeFileSync(folder + '/made-by-' + process.pid, i + '\\n', { flag: 'a' })`
    const makers = [started(work), started(work), started(work)]
    expect(await Promise.all(makers.map(exitOf))).toEqual([0, 0, 0])
    const made = makers.flatMap(({ pid }) => {
      const list = at(`made-by-${pid}`)
      const names = existsSync(list) ? readFileSync(list, 'utf8').trim().split('\n') : []
      return names.map((name) => ({ name, pid: String(pid) }))
    })
    expect(made.map(({ name }) => Number(name)).sort((a, b) => a - b)).toEqual(Array.from({ length: 50 }, (_, i) => i))
    for (const { name, pid } of made) expect(readFileSync(at(`file-${name}`), 'utf8')).toBe(pid.repeat(10_000))
  })
})

describe('a folder of this user’s own', () => {
  it('is made for its owner only', () => {
    ownFolder(at('own'))
    expect(modeOf('own')).toBe(0o700)
  })

  it('is refused where others may write to it, and where it is no folder', () => {
    mkdirSync(at('open'))
    chmodSync(at('open'), 0o777)
    writeFileSync(at('file'), '')
    expect(() => ownFolder(at('open'))).toThrow(NotOwn)
    expect(() => changeList(at('open'), 'list.json', () => ({ v: 1 }))).toThrow(NotOwn)
    expect(readdirSync(at('open'))).toEqual([])
    expect(() => ownFolder(at('file'))).toThrow()
  })

  it.runIf(process.getuid?.() === 0)('is refused where it is another user’s, also by way of a link', () => {
    mkdirSync(at('theirs'))
    chownSync(at('theirs'), 4_242, 4_242)
    symlinkSync('theirs', at('link'))
    expect(() => ownFolder(at('theirs'))).toThrow(NotOwn)
    expect(() => ownFolder(at('link'))).toThrow(NotOwn)
    expect(readdirSync(at('theirs'))).toEqual([])
  })
})

describe('the lock of a folder', () => {
  it('loses no change of several processes, whether they wait with the thread or without', async () => {
    const add = `writeFileSync(folder + '/count', String(Number(readFileSync(folder + '/count', 'utf8')) + 1))`
    writeFileSync(at('count'), '0')
    const patient = `for (let i = 0; i < 25; i += 1) await withFolder(folder, async () => { ${add} })`
    const still = `for (let i = 0; i < 25; i += 1) withFolderSync(folder, () => { ${add} })`
    const adders = [patient, still, patient, still].map(started)
    expect(await Promise.all(adders.map(exitOf))).toEqual([0, 0, 0, 0])
    expect(readFileSync(at('count'), 'utf8')).toBe('100')
    expect(readdirSync(folder)).toEqual(['count'])
  })

  it('is never taken from a living process, however old it is and whether or not it moves', async () => {
    const child = await holder()
    child.kill('SIGSTOP')
    for (const name of left()) utimesSync(at(name), 1, 1)
    expect(() => withFolderSync(folder, () => 'taken', 300)).toThrow(FolderBusy)
    await expect(withFolder(folder, () => 'taken', 300)).rejects.toMatchObject({ pids: [child.pid] })
    expect(() => changeList(folder, 'list.json', () => ({ v: 1 }), 300)).toThrow(FolderBusy)
    expect(left().map((name) => readOwnName(name)?.pid)).toEqual([child.pid])
    expect(readList(folder, 'list.json')).toBeUndefined()
  })

  it('is taken at once from a process that was killed', async () => {
    const child = await holder()
    child.kill('SIGKILL')
    await exitOf(child)
    expect(left()).toHaveLength(1)
    changeList(folder, 'list.json', () => ({ v: 1 }), 0)
    expect(readList(folder, 'list.json')).toEqual({ v: 1 })
    expect(left()).toEqual([])
  })

  it('of a process that cannot be seen from here counts for a minute', () => {
    const elsewhere = ownName('lock').replace(/-[0-9a-f]{8}-/, '-00000000-')
    writeFileSync(at(elsewhere), '')
    expect(() => withFolderSync(folder, () => 'taken', 50)).toThrow(FolderBusy)
    const before = Date.now() / 1_000 - 61
    utimesSync(at(elsewhere), before, before)
    expect(withFolderSync(folder, () => left().includes(elsewhere))).toBe(false)
  })

  it('is let go of when the work fails', () => {
    expect(() =>
      withFolderSync(folder, () => {
        throw new Error('broken')
      }),
    ).toThrow('broken')
    expect(left()).toEqual([])
  })
})

describe('the fate of a process', () => {
  const own = readProcess(process.pid)?.startTime

  it.runIf(own !== undefined)('is told by when it began, because pids are given again', () => {
    expect([fateOf(process.pid, own), fateOf(process.pid, '1'), fateOf(process.pid, undefined)]).toEqual([
      'alive',
      'gone',
      'unknown',
    ])
  })

  it('is known of one that has ended', async () => {
    const child = started('')
    await exitOf(child)
    expect(fateOf(child.pid ?? 0, undefined)).toBe('gone')
  })
})
