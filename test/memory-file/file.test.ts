import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  closeSync,
  existsSync,
  ftruncateSync,
  linkSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { withFolder } from '../../src/adapters/files/folder-lock.ts'
import { ownName } from '../../src/adapters/files/own-names.ts'
import { isKeptByGit } from '../../src/adapters/git/git-files.ts'
import { type FileMemoryDeps, FileMemoryFiles } from '../../src/adapters/memory-file/file-memory-files.ts'
import { instant } from '../../src/domain/kernel/instant.ts'
import { err, ok } from '../../src/domain/kernel/result.ts'
import { MEMORY_BLOCK } from '../../src/domain/memory-block/block-markers.ts'
import { fillBlock, insertBlock, resetBlock } from '../../src/domain/memory-block/memory-block.ts'
import { temporaryFolder } from '../embedded/temporary-folder.ts'

const NOW = instant('2026-11-17T10:00:00Z')
const LATER = instant('2026-11-18T10:00:00Z')
const HELD = { threadKey: 'child-1', sourceThreadId: 'parent-1', expiresAt: LATER, summary: 'Ship it.' }
const BLOCK = `${MEMORY_BLOCK.heading}\n\n<current_thread_summary>\nNone recorded yet.\n</current_thread_summary>\n`

const inserting = (text = '') => insertBlock(text)
const filling = (text = '') => fillBlock(text, HELD, NOW)
const resetting = (text = '') => resetBlock(text, { threadKey: 'child-1' })
const append =
  (words: string) =>
  (text = '') =>
    ok(text.endsWith(words) ? text : `${text}${words}`)

const workspace = (files: Readonly<Record<string, string | Buffer>> = {}) => {
  const folder = temporaryFolder()
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text)
  const open = (name = 'CLAUDE.md', deps: Partial<FileMemoryDeps> = {}) =>
    new FileMemoryFiles({ isTracked: isKeptByGit, ...deps }).open(folder, name)
  const bytes = (name = 'CLAUDE.md') => readFileSync(join(folder, name), 'utf8')
  return { folder, open, bytes, at: (name: string) => join(folder, name), names: () => readdirSync(folder).sort() }
}

describe('a memory file', () => {
  it('is made with the block only where there is none', async () => {
    const { folder, open, bytes, names } = workspace()
    expect(await open().read()).toBeUndefined()
    expect(await open().change(inserting)).toEqual({ ok: true, value: { isWritten: true, text: BLOCK } })
    expect(bytes()).toBe(BLOCK)
    expect(names()).toEqual(['CLAUDE.md'])
    expect(statSync(join(folder, 'CLAUDE.md')).mode & 0o777).toBe(0o644 & ~process.umask())
  })

  it('changes between the markers only, and is itself again after', async () => {
    const rules = '\ufeff# Rules\r\nBe kind.\r\n\r\nno final newline'
    const { open, bytes, names } = workspace({ 'CLAUDE.md': rules })
    await open().change(inserting)
    const inserted = bytes()
    expect(inserted).toBe(`\ufeff${BLOCK}\n`.replaceAll('\n', '\r\n') + rules.slice(1))
    expect(await open().change(filling)).toMatchObject({ value: { isWritten: true } })
    expect(bytes()).toContain(
      'Ship it.\r\n</current_thread_summary>\r\n\r\n# Rules\r\nBe kind.\r\n\r\nno final newline',
    )
    expect(await open().change(resetting)).toMatchObject({ value: { isWritten: true } })
    expect(bytes()).toBe(inserted)
    expect(names()).toEqual(['CLAUDE.md'])
  })

  it('is not touched when there is nothing to change, or when the rule refuses', async () => {
    const { open, at } = workspace({ 'CLAUDE.md': `${BLOCK}# Rules\n` })
    const before = lstatSync(at('CLAUDE.md'))
    expect(await open().change(resetting)).toMatchObject({ ok: true, value: { isWritten: false } })
    expect(await open().change(() => err('no'))).toEqual({ ok: false, error: 'no' })
    expect(lstatSync(at('CLAUDE.md'))).toMatchObject({
      ino: before.ino,
      mtimeMs: before.mtimeMs,
      ctimeMs: before.ctimeMs,
    })
  })

  it('keeps its mode', async () => {
    const { open, at } = workspace({ 'CLAUDE.md': '# Rules\n' })
    chmodSync(at('CLAUDE.md'), 0o640)
    await open().change(filling)
    expect(statSync(at('CLAUDE.md')).mode & 0o7777).toBe(0o640)
  })

  it('is asked about again when somebody changed it meanwhile, in place or by another file', async () => {
    const { open, at, bytes } = workspace({ 'CLAUDE.md': '# Rules\n' })
    const edits = [
      () => writeFileSync(at('CLAUDE.md'), '# Rules in place\n'),
      () => {
        writeFileSync(at('mine'), '# Rules by another file\n')
        renameSync(at('mine'), at('CLAUDE.md'))
      },
      // The same length and the same moment: only the bytes tell.
      () => unlinkSync(at('CLAUDE.md')),
    ]
    const heard: (string | undefined)[] = []
    await open().change((text) => {
      heard.push(text)
      edits.shift()?.()
      return inserting(text)
    })
    expect(heard.slice(0, 4)).toEqual(['# Rules\n', '# Rules in place\n', '# Rules by another file\n', undefined])
    expect(bytes()).toBe(BLOCK)
  })

  it('does not replace a file that somebody makes at the same moment', async () => {
    const { open, at, bytes } = workspace()
    let isMade = false
    await open().change((text) => {
      if (!isMade) writeFileSync(at('CLAUDE.md'), '# Mine\n')
      isMade = true
      return inserting(text)
    })
    expect(bytes()).toBe(`${BLOCK}\n# Mine\n`)
  })

  it('keeps the words that a program wrote into the old file while it was replaced', async () => {
    const { open, at, bytes, names } = workspace({ 'CLAUDE.md': '# Rules\n' })
    let isLate = true
    const rename: typeof renameSync = (from, to) => {
      const editor = openSync(at('CLAUDE.md'), 'r+')
      renameSync(from, to)
      if (isLate) {
        ftruncateSync(editor)
        writeSync(editor, '# Rules, and a late word\n', 0)
      }
      isLate = false
      closeSync(editor)
    }
    expect(await open('CLAUDE.md', { rename }).change(inserting)).toMatchObject({ value: { isWritten: true } })
    expect(bytes()).toBe(`${BLOCK}\n# Rules, and a late word\n`)
    expect(names()).toEqual(['CLAUDE.md'])
  })

  it('gives late words back when the rule refuses them', async () => {
    const { open, at, bytes } = workspace({ 'CLAUDE.md': '# Rules\n' })
    const rename: typeof renameSync = (from, to) => {
      const editor = openSync(at('CLAUDE.md'), 'r+')
      renameSync(from, to)
      writeSync(editor, '<current_thread_summary>\n', 0)
      closeSync(editor)
    }
    expect(await open('CLAUDE.md', { rename }).change(inserting)).toMatchObject({
      error: { code: 'memory_block.malformed', problem: 'orphan_begin' },
    })
    expect(bytes()).toBe('<current_thread_summary>\n')
  })

  it('puts late words beside the file when it was changed once more', async () => {
    const { open, at, bytes, names } = workspace({ 'CLAUDE.md': '# Rules\n' })
    const rename: typeof renameSync = (from, to) => {
      const editor = openSync(at('CLAUDE.md'), 'r+')
      renameSync(from, to)
      writeSync(editor, '# Late', 0)
      closeSync(editor)
      writeFileSync(at('CLAUDE.md'), '# The second program\n')
    }
    await expect(open('CLAUDE.md', { rename }).change(inserting)).rejects.toMatchObject({
      code: 'memory_file.conflict',
    })
    expect(bytes()).toBe('# The second program\n')
    const [, rescued = ''] = names()
    expect(rescued).toMatch(/^CLAUDE\.md\.rescued-/)
    expect(bytes(rescued)).toBe('# Lates\n')
  })

  it('makes its change again when a program puts an older text over it', async () => {
    const { open, at, bytes } = workspace({ 'CLAUDE.md': '# Rules\n' })
    let isOverwritten = false
    const rename: typeof renameSync = (from, to) => {
      renameSync(from, to)
      if (isOverwritten) return
      isOverwritten = true
      writeFileSync(at('mine'), '# Rules of an editor\n')
      renameSync(at('mine'), at('CLAUDE.md'))
    }
    expect(await open('CLAUDE.md', { rename }).change(inserting)).toMatchObject({ value: { isWritten: true } })
    expect(bytes()).toBe(`${BLOCK}\n# Rules of an editor\n`)
  })

  it('gives up on a file that is changed all the time', async () => {
    const { open, at } = workspace({ 'CLAUDE.md': '0' })
    let count = 0
    const changing = open().change((text) => {
      count += 1
      writeFileSync(at('mine'), String(count))
      renameSync(at('mine'), at('CLAUDE.md'))
      return inserting(text)
    })
    await expect(changing).rejects.toMatchObject({ code: 'memory_file.busy' })
  })

  it('passes an error of its rule on', async () => {
    const { open, names } = workspace({ 'CLAUDE.md': 'a' })
    const broken = new Error('broken')
    await expect(
      open().change(() => {
        throw broken
      }),
    ).rejects.toBe(broken)
    expect(names()).toEqual(['CLAUDE.md'])
  })

  it('takes the changes of one process one after the other', async () => {
    const { open, bytes } = workspace({ 'CLAUDE.md': '' })
    const words = Array.from({ length: 12 }, (_, index) => `<${index}>`)
    await Promise.all(words.map((word) => open().change((text = '') => ok(text.includes(word) ? text : text + word))))
    expect(bytes().match(/<\d+>/g)?.sort()).toEqual([...words].sort())
  })
})

describe('links', () => {
  it('are followed to a file inside of the workspace, and stay links', async () => {
    const { open, at, bytes } = workspace({ 'AGENTS.md': '# Rules\n' })
    symlinkSync('AGENTS.md', at('CLAUDE.md'))
    await open().change(inserting)
    expect(lstatSync(at('CLAUDE.md')).isSymbolicLink()).toBe(true)
    expect(lstatSync(at('AGENTS.md')).isSymbolicLink()).toBe(false)
    expect(bytes('AGENTS.md')).toBe(`${BLOCK}\n# Rules\n`)
  })

  it.each([
    ['a file outside', (outside: string) => join(outside, 'secret.md'), 'CLAUDE.md'],
    ['a folder outside', (outside: string) => outside, 'folder'],
  ])('to %s are refused, and nothing is written there', async (_, to, link) => {
    const outside = temporaryFolder()
    writeFileSync(join(outside, 'secret.md'), 'secret')
    const { open, at } = workspace()
    symlinkSync(to(outside), at(link))
    const file = open(link === 'folder' ? 'folder/secret.md' : 'CLAUDE.md')
    await expect(file.read()).rejects.toMatchObject({ code: 'memory_file.outside' })
    await expect(file.change(inserting)).rejects.toMatchObject({ code: 'memory_file.outside' })
    expect(readFileSync(join(outside, 'secret.md'), 'utf8')).toBe('secret')
    expect(readdirSync(outside)).toEqual(['secret.md'])
  })

  it('that are turned outwards while a change is made are refused too', async () => {
    const outside = temporaryFolder()
    writeFileSync(join(outside, 'secret.md'), 'secret')
    const { open, at } = workspace({ 'AGENTS.md': '# Rules\n' })
    symlinkSync('AGENTS.md', at('CLAUDE.md'))
    const changing = open().change((text) => {
      unlinkSync(at('CLAUDE.md'))
      symlinkSync(join(outside, 'secret.md'), at('CLAUDE.md'))
      return inserting(text)
    })
    await expect(changing).rejects.toMatchObject({ code: 'memory_file.outside' })
    expect(readFileSync(join(outside, 'secret.md'), 'utf8')).toBe('secret')
    expect(readFileSync(at('AGENTS.md'), 'utf8')).toBe('# Rules\n')
  })

  it('that are turned to another file while a change is made are followed anew', async () => {
    const { open, at, bytes } = workspace({ 'AGENTS.md': '# Rules\n', 'agent.md': '# Others\n' })
    symlinkSync('AGENTS.md', at('CLAUDE.md'))
    let isTurned = false
    await open().change((text) => {
      if (!isTurned) {
        unlinkSync(at('CLAUDE.md'))
        symlinkSync('agent.md', at('CLAUDE.md'))
      }
      isTurned = true
      return inserting(text)
    })
    expect(bytes('AGENTS.md')).toBe('# Rules\n')
    expect(bytes('agent.md')).toBe(`${BLOCK}\n# Others\n`)
  })

  it.each(['../CLAUDE.md', '/etc/passwd', '', '.', 'a/../../b', 'a\0b'])('in the name %j are refused', (name) => {
    expect(() => workspace().open(name)).toThrow(/leads out of the workspace/)
  })

  it('may lead to the workspace itself', async () => {
    const { folder, bytes } = workspace({ 'CLAUDE.md': '# Rules\n' })
    const link = join(temporaryFolder(), 'workspace')
    symlinkSync(folder, link)
    await new FileMemoryFiles({ isTracked: isKeptByGit }).open(link, 'CLAUDE.md').change(inserting)
    expect(bytes()).toBe(`${BLOCK}\n# Rules\n`)
  })
})

describe('a file that cannot be used', () => {
  it.each([
    ['a folder', 'memory_file.not_a_file', (path: string) => mkdirSync(path)],
    ['a pipe', 'memory_file.not_a_file', (path: string) => execFileSync('mkfifo', [path])],
    ['a link to nothing', 'memory_file.not_a_file', (path: string) => symlinkSync('nothing', path)],
    ['a link to itself', 'memory_file.not_a_file', (path: string) => symlinkSync('CLAUDE.md', path)],
    ['more than 1 MiB', 'memory_file.too_large', (path: string) => writeFileSync(path, 'a'.repeat(1024 * 1024 + 1))],
    ['UTF-16', 'memory_file.not_text', (path: string) => writeFileSync(path, Buffer.from([0xff, 0xfe, 0x41, 0]))],
    ['Latin-1', 'memory_file.not_text', (path: string) => writeFileSync(path, Buffer.from('Grüße', 'latin1'))],
    [
      'a surrogate in UTF-8',
      'memory_file.not_text',
      (path: string) => writeFileSync(path, Buffer.from([0xed, 0xa0, 0x80])),
    ],
    [
      'a read-only file',
      'memory_file.not_writable',
      (path: string) => {
        writeFileSync(path, 'a', { mode: 0o444 })
      },
    ],
    [
      'a file with two names',
      'memory_file.hard_linked',
      (path: string) => {
        writeFileSync(path, 'a')
        linkSync(path, `${path}.other`)
      },
    ],
  ])('%s: %s, with the name of the file and what to do', async (_, code, make) => {
    const { open, at, names } = workspace()
    make(at('CLAUDE.md'))
    const before = names()
    await expect(open().change(inserting)).rejects.toMatchObject({ name: 'MemoryFileFailure', code })
    await expect(open().change(inserting)).rejects.toThrow(/CLAUDE\.md.*\. [A-Z].*\.$/)
    expect(names()).toEqual(before)
  })

  it('in a missing folder or workspace is told so', async () => {
    const { open, folder } = workspace()
    await expect(open('docs/agent.md').change(inserting)).rejects.toMatchObject({ code: 'memory_file.no_folder' })
    const files = new FileMemoryFiles({ isTracked: isKeptByGit })
    await expect(files.open(join(folder, 'no'), 'CLAUDE.md').read()).rejects.toMatchObject({
      code: 'memory_file.no_folder',
      cause: { code: 'ENOENT' },
    })
  })

  it('with a text that grows over 1 MiB is as it was', async () => {
    const { open, bytes, names } = workspace({ 'CLAUDE.md': 'a'.repeat(1024 * 1024 - 10) })
    await expect(open().change(append('b'.repeat(20)))).rejects.toMatchObject({ code: 'memory_file.too_large' })
    expect(bytes()).toHaveLength(1024 * 1024 - 10)
    expect(names()).toEqual(['CLAUDE.md'])
  })
})

describe('the lock of a folder', () => {
  it('lets one in at a time, and everybody in the end', async () => {
    const { folder, names } = workspace()
    let [inside, most, done] = [0, 0, 0]
    const work = async (): Promise<void> => {
      inside += 1
      most = Math.max(most, inside)
      await new Promise((resolve) => setTimeout(resolve, Math.random() * 5))
      inside -= 1
      done += 1
    }
    await Promise.all(Array.from({ length: 20 }, () => withFolder(folder, work)))
    expect({ most, done }).toEqual({ most: 1, done: 20 })
    expect(names()).toEqual([])
  })

  it('is given back when the work fails', async () => {
    const { folder, names } = workspace()
    await expect(withFolder(folder, () => Promise.reject(new Error('broken')))).rejects.toThrow('broken')
    expect(names()).toEqual([])
  })
})

describe('files that a killed process left', () => {
  const dead = (kind: 'lock' | 'new') => ownName(kind).replace(/(lock|new)-\d+-\d+/, '$1-4194304-1')

  it('are removed by the next change, and stop nobody', async () => {
    const { open, at, bytes, names } = workspace({ 'CLAUDE.md': '# Rules\n' })
    for (const name of [dead('lock'), dead('new')]) writeFileSync(at(name), 'half')
    await open().change(inserting)
    expect(names()).toEqual(['CLAUDE.md'])
    expect(bytes()).toBe(`${BLOCK}\n# Rules\n`)
  })

  it('are known by when their process began, not by its pid alone', async () => {
    const { open, at, names } = workspace({ 'CLAUDE.md': '# Rules\n' })
    writeFileSync(at(ownName('lock').replace(/lock-(\d+)-\d+/, 'lock-$1-1')), '')
    await open().change(inserting)
    expect(names()).toEqual(['CLAUDE.md'])
  })

  it('stay when they are of a living process, or of somebody else', async () => {
    const { open, at, names } = workspace({ 'CLAUDE.md': '# Rules\n' })
    const others = [ownName('new'), '.batonpass-lock-mine', '.batonpass-new-1-1-x', 'CLAUDE.md~']
    for (const name of others) writeFileSync(at(name), '')
    await open().change(inserting)
    expect(names()).toEqual([...others, 'CLAUDE.md'].sort())
    expect(existsSync(at('CLAUDE.md'))).toBe(true)
  })
})

describe('git', () => {
  it('keeps a file that is tracked or would be added, and none that is ignored or outside of a repository', async () => {
    const { folder, open, at } = workspace({ 'CLAUDE.md': 'a', 'AGENTS.md': 'b', 'CLAUDE.local.md': 'c' })
    expect(await open().isTracked()).toBe(false)
    const git = (...args: readonly string[]) => execFileSync('git', ['-C', folder, ...args], { stdio: 'ignore' })
    git('init')
    writeFileSync(at('.gitignore'), 'CLAUDE.local.md\nCLAUDE.md\nnotes/\n')
    git('add', '-f', 'CLAUDE.md')
    expect(await open('CLAUDE.md').isTracked()).toBe(true)
    expect(await open('AGENTS.md').isTracked()).toBe(true)
    expect(await open('agent.md').isTracked()).toBe(true)
    expect(await open('CLAUDE.local.md').isTracked()).toBe(false)
    symlinkSync('CLAUDE.md', at('link.md'))
    expect(await open('link.md').isTracked()).toBe(true)
  })
})
