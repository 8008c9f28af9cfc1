import { execFileSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { excludeEdit } from '../../src/adapters/install/edits.ts'
import { got, installed, put, type Stage, stage, uninstalled } from './stage.ts'

const git = (folder: string, ...words: readonly string[]): string =>
  execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b', '-C', folder, ...words], { encoding: 'utf8' })

/** Everything that `git add .` would take. */
const offered = (folder: string): readonly string[] =>
  git(folder, 'ls-files', '--others', '--exclude-standard').split('\n').filter(Boolean).sort()

const inFolder = ({ change }: Stage, workingFolder: string, scope: 'local' | 'project' = 'local') => {
  const one = change({ scope })
  return { ...one, place: { ...one.place, workingFolder } }
}

describe('files of one person in a repository', () => {
  it('are ignored by git as long as they are there, and its list is given back', async () => {
    const place = stage()
    git(place.project, 'init', '--quiet')
    const list = put(join(place.project, '.git', 'info', 'exclude'), '# mine\n*.tmp')
    expect(offered(place.project)).toEqual([])
    await installed(inFolder(place, place.project))
    expect(offered(place.project)).toEqual([])
    expect(got(list)).toContain('\n/.claude/settings.local.json\n')
    expect(got(list)).toContain('\n/.claude/commands/baton/handoff.md')
    const again = await installed(inFolder(place, place.project))
    expect(again.files.every(({ change }) => change === 'unchanged')).toBe(true)
    writeFileSync(list, `${got(list)}\n*.later\n`)
    await uninstalled(inFolder(place, place.project))
    expect(got(list)).toBe('# mine\n*.tmp\n*.later\n')
  })

  it('are named from the root of the repository, whatever the folder is called', async () => {
    const place = stage()
    git(place.project, 'init', '--quiet')
    const folder = join(place.project, 'a [b]', '#c* d')
    mkdirSync(folder, { recursive: true })
    await installed(inFolder(place, folder))
    expect(offered(place.project)).toEqual([])
    put(join(place.project, 'a b', '.claude', 'settings.local.json'), '{}')
    expect(offered(place.project)).toEqual(['a b/.claude/settings.local.json'])
    await uninstalled(inFolder(place, folder))
    expect(got(join(place.project, '.git', 'info', 'exclude'))).not.toContain('baton')
  })

  it('need no line where the repository ignores them', async () => {
    const place = stage()
    git(place.project, 'init', '--quiet')
    const list = join(place.project, '.git', 'info', 'exclude')
    const before = got(list)
    put(join(place.project, '.gitignore'), '.claude\n')
    await installed(inFolder(place, place.project))
    expect(got(list)).toBe(before)
    expect(offered(place.project)).toEqual(['.gitignore'])
  })

  it('are ignored in each worktree as long as one of them has them', async () => {
    const place = stage()
    git(place.project, 'init', '--quiet')
    git(place.project, 'commit', '--quiet', '--allow-empty', '-m', 'first')
    const other = join(place.home, 'worktree')
    git(place.project, 'worktree', 'add', '--quiet', other)
    const list = join(place.project, '.git', 'info', 'exclude')
    const before = got(list)
    await installed(inFolder(place, other))
    await installed(inFolder(place, place.project))
    expect([offered(other), offered(place.project)]).toEqual([[], []])
    await uninstalled(inFolder(place, other))
    expect(offered(place.project)).toEqual([])
    await uninstalled(inFolder(place, place.project))
    expect(got(list)).toBe(before)
  })

  it('that git keeps already are named, and so are files for everybody that it ignores', async () => {
    const place = stage()
    git(place.project, 'init', '--quiet')
    put(join(place.project, '.claude', 'settings.local.json'), '{}')
    git(place.project, 'add', '--force', '.claude')
    const { remarks } = await installed(inFolder(place, place.project))
    expect(remarks).toEqual([expect.stringMatching(/Git keeps \.claude\/settings\.local\.json/)])
    put(join(place.project, '.gitignore'), '.mcp.json\n')
    const shared = await installed(inFolder(place, place.project, 'project'))
    expect(shared.remarks).toContainEqual(expect.stringMatching(/Git ignores \.mcp\.json/))
  })

  it('are not hidden where they are for everybody', async () => {
    const place = stage()
    git(place.project, 'init', '--quiet')
    await installed(inFolder(place, place.project, 'project'))
    await installed(inFolder(place, place.project))
    expect(offered(place.project)).toEqual(['.claude/commands/baton/handoff.md', '.claude/settings.json', '.mcp.json'])
  })
})

describe('any list of ignored files', () => {
  it('is the same bytes after our lines were put in and taken out, in any order', () => {
    const text = fc.array(fc.constantFrom('a\n', '*.b\n', '\n', '# c', '\r\n', ' ')).map((parts) => parts.join(''))
    const past = { receipt: undefined, isUntouched: false, original: undefined }
    const lines = [['/x/[y]', '/z'], ['/w']]
    fc.assert(
      fc.property(text, text, fc.boolean(), (before, later, isFirst) => {
        const edits = lines.map((wanted) => excludeEdit({ path: '', lines: wanted, wanted }))
        const put = (now: string, edit: (typeof edits)[number]): string => {
          const done = edit.install(now, past)
          return done.ok ? (done.value.text ?? '') : 'refused'
        }
        const taken = (now: string, edit: (typeof edits)[number]): string => {
          const done = edit.remove(now, past)
          return done.ok ? (done.value.text ?? '') : 'refused'
        }
        const after = edits.reduce(put, before)
        expect(after).not.toBe(before)
        expect(edits.reduce(put, after)).toBe(after)
        const back = isFirst ? edits : edits.toReversed()
        expect(back.reduce(taken, after)).toBe(before)
        const more = `\n${later}`
        const isWithinLine = before !== '' && !before.endsWith('\n')
        if (isWithinLine) expect(back.reduce(taken, `${after}${more}`)).toBe(`${before}${more}`)
      }),
    )
  })
})
