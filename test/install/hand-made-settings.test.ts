import { lstatSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { claude } from '../../src/adapters/claude/vendor.ts'
import { install } from '../../src/main/installer.ts'
import { got, installed, ONLY_SETTINGS, put, stage, uninstalled } from './stage.ts'

const OURS = Object.entries(claude.terminal?.hooks ?? {})
const ourGroup = (event: string) => ({ hooks: [{ type: 'command', command: `baton hook ${event}` }] })
const hand = (value: unknown, indent: string | number = 2): string => `${JSON.stringify(value, null, indent)}\n`

const OWN_HOOKS = {
  hooks: {
    Stop: [{ matcher: '', hooks: [{ type: 'command', command: 'afplay /done.wav', timeout: 5 }] }],
    PreToolUse: [{ matcher: 'Bash', hooks: [{ type: 'command', command: './check.sh' }] }],
  },
}

/** Settings as people have them. */
const FILES: Readonly<Record<string, string>> = {
  'no hooks, nested keys': hand({ permissions: { allow: ['Bash(ls:*)'], deny: [] }, env: { A: '{"not": "ours"}' } }),
  'own hooks': hand(OWN_HOOKS),
  'an own status line': hand({
    statusLine: { type: 'command', command: "~/.claude/it's mine.sh", padding: 0 },
    model: 'opus',
  }),
  tabs: hand({ ...OWN_HOOKS, model: 'opus' }, '\t'),
  'four spaces': hand({ model: 'opus', hooks: {} }, 4),
  'odd indentation': '{\n     "model" :"opus",\n  "hooks": { "Stop" : [ ] }\n }\n',
  'line ends of Windows': hand({ model: 'opus', ...OWN_HOOKS }).replaceAll('\n', '\r\n'),
  'a mark of order, no last line end': `\uFEFF${hand({ model: 'opus' }).trimEnd()}`,
  'one line': '{"model":"opus","hooks":{"Stop":[{"hooks":[{"type":"command","command":"true"}]}]}}',
  'one line with blanks': '{ "model": "opus", "statusLine": { "type": "command", "command": "pwd" } }',
  'an empty object': '{}',
  'an empty object with a line': '{\n}\n',
  'an empty file': '',
  'blanks only': '\n  \n',
  'other spellings of a text':
    '{\n  "statusLine": {\n    "type": "command",\n    "command": "\\u0070wd \\/tmp"\n  }\n}\n',
  'hooks of ours by hand': hand({ hooks: { Stop: [ourGroup('stop')], SessionStart: [ourGroup('session-start')] } }),
}

describe('settings by hand', () => {
  it.each(Object.entries(FILES))(
    'with %s get our entries once, and are given back byte for byte',
    async (name, text) => {
      const { settings, change } = stage()
      put(settings, text, 0o640)
      const wanted = change({ without: ONLY_SETTINGS })
      await installed(wanted)
      const first = got(settings) ?? ''
      expect(first).not.toBe(text)
      const read = JSON.parse(first.replace(/^\uFEFF/, '')) as { hooks: Record<string, unknown[]>; statusLine: object }
      for (const [hook, event] of OURS) expect(read.hooks[hook]).toContainEqual(ourGroup(event))
      expect(read.statusLine).toMatchObject({
        type: 'command',
        command: expect.stringMatching(/^baton hook statusline/),
      })
      expect((await installed(wanted)).files.map(({ change }) => change)).toEqual([
        'unchanged',
        'unchanged',
        'unchanged',
      ])
      expect(got(settings)).toBe(first)
      expect(statSync(settings).mode & 0o777).toBe(0o640)
      await uninstalled(wanted)
      // Hooks that somebody wrote by hand are ours all the same, and go.
      expect(got(settings)).toBe(name === 'hooks of ours by hand' ? '{}\n' : text)
      expect(readdirSync(dirname(settings))).toEqual(['settings.json'])
    },
  )

  it.each(Object.entries(FILES))('with %s that were changed in between lose our entries only', async (_, text) => {
    const { settings, change } = stage()
    put(settings, text)
    const wanted = change({ without: ONLY_SETTINGS })
    await installed(wanted)
    const between = got(settings) ?? ''
    // As a person does it: one more key at the end, in a line of its own.
    const edited = between.replace(/\}(\s*)$/, ',"theirs": [1, 2]}$1')
    writeFileSync(settings, edited)
    await uninstalled(wanted)
    const left = got(settings) ?? ''
    const before = JSON.parse(text.replace(/^\uFEFF/, '').trim() || '{}') as object
    const expected = { ...before, theirs: [1, 2] } as Record<string, unknown>
    if (text === FILES['hooks of ours by hand']) delete expected.hooks
    expect(JSON.parse(left.replace(/^\uFEFF/, ''))).toEqual(expected)
    expect(left.includes('\r\n')).toBe(text.includes('\r\n'))
    expect(left.startsWith('\uFEFF')).toBe(text.startsWith('\uFEFF'))
  })

  it('keep a status line of their own by running it, with all its other settings', async () => {
    const { settings, change } = stage()
    put(settings, FILES['an own status line'] ?? '')
    await installed(change({ without: ONLY_SETTINGS }))
    const { statusLine } = JSON.parse(got(settings) ?? '') as { statusLine: unknown }
    expect(statusLine).toEqual({
      type: 'command',
      command: `baton hook statusline --then '~/.claude/it'\\''s mine.sh'`,
      padding: 0,
    })
  })

  it('behind a link are changed at its end, and the link stays', async () => {
    const { home, settings, change } = stage()
    const real = put(join(home, 'dotfiles', 'claude.json'), FILES['own hooks'] ?? '')
    mkdirSync(dirname(settings), { recursive: true })
    symlinkSync('../dotfiles/claude.json', settings)
    const wanted = change({ without: ONLY_SETTINGS })
    await installed(wanted)
    expect(lstatSync(settings).isSymbolicLink()).toBe(true)
    expect(got(real)).toContain('baton hook stop')
    await uninstalled(wanted)
    expect(lstatSync(settings).isSymbolicLink()).toBe(true)
    expect(got(real)).toBe(FILES['own hooks'])
  })

  it('that were not there are removed again, with the folders made for them', async () => {
    const { home, change } = stage()
    const before = readdirSync(home)
    const wanted = change()
    const { files } = await installed(wanted)
    expect(files.map(({ change }) => change)).toEqual(['created', 'created', 'created'])
    expect(readdirSync(join(home, '.claude', 'commands', 'baton'))).toEqual(['handoff.md'])
    expect(statSync(join(home, '.claude.json')).mode & 0o777).toBe(0o600)
    await uninstalled(wanted)
    expect(readdirSync(home)).toEqual([...before, '.batonpass'].sort())
  })

  it('that name an older program are named anew, with flags of the person kept', async () => {
    const { settings, change } = stage()
    put(
      settings,
      hand({ hooks: { Stop: [{ hooks: [{ type: 'command', command: '/old/baton hook stop --data-dir /d' }] }] } }),
    )
    await installed(change({ without: ONLY_SETTINGS }))
    expect(got(settings)).toContain('"baton hook stop --data-dir /d"')
    expect(got(settings)).not.toContain('/old/baton')
    const before = got(settings)
    await installed(change({ without: ONLY_SETTINGS, command: "'/my tools/baton'" }))
    expect(got(settings)).toContain(`"'/my tools/baton' hook stop --data-dir /d"`)
    await installed(change({ without: ONLY_SETTINGS }))
    expect(got(settings)).toBe(before)
  })

  it('with a command that does other things too keep it, and it is not doubled', async () => {
    const { settings, change } = stage()
    const mixed = { hooks: { Stop: [{ hooks: [{ type: 'command', command: 'say done; baton hook stop' }] }] } }
    put(settings, hand(mixed))
    const wanted = change({ without: ONLY_SETTINGS })
    await installed(wanted)
    expect(got(settings)?.match(/baton hook stop/g)).toHaveLength(1)
    writeFileSync(settings, hand(JSON.parse(got(settings) ?? ''), 3))
    const { remarks } = await uninstalled(wanted)
    expect(JSON.parse(got(settings) ?? '')).toEqual(mixed)
    expect(remarks).toEqual([expect.stringContaining('command of your own')])
  })

  it('that were tried dry are as they were, and the difference is shown', async () => {
    const { home, settings, change } = stage()
    put(settings, FILES['own hooks'] ?? '')
    const { files } = await installed(change({ isDryRun: true }))
    expect(got(settings)).toBe(FILES['own hooks'])
    expect(readdirSync(home).sort()).toEqual(['.claude', 'project'])
    const [{ diff = [] } = {}] = files
    expect(diff.slice(0, 2)).toEqual([`--- ${settings}`, `+++ ${settings}`])
    expect(diff).toContain('+            "command": "baton hook stop"')
  })

  it.each([
    ['a comment', '{\n  // mine\n  "model": "opus"\n}\n', 'settings.malformed', /comment.*\(line 2, column 3\)/],
    ['a block of comment', '{ /* mine */ }', 'settings.malformed', /comment.*\(line 1, column 3\)/],
    ['a comma too many', '{"a": 1,}', 'settings.malformed', /comma too many \(line 1, column 8\)/],
    ['half of it', '{"hooks": {', 'settings.malformed', /no JSON \(line 1, column 12\)/],
    ['a key that is there twice', '{"a": 1, "b": {"c": 1, "c": 2}}', 'settings.malformed', /"c" twice.*column 24/],
    [
      'a nest without end',
      `{"a": ${'['.repeat(100_000)}`,
      'settings.malformed',
      /nested deeper than 200 levels \(line 1, col/,
    ],
    ['a list', '[]', 'settings.unexpected_shape', /no JSON object/],
    ['hooks that are a list', '{"hooks": []}', 'settings.unexpected_shape', /"hooks", which is not an object/],
    ['a hook that is no list', '{"hooks": {"Stop": {}}}', 'settings.unexpected_shape', /"hooks.Stop"/],
    ['a group without hooks', '{"hooks": {"Stop": [{"command": "x"}]}}', 'settings.unexpected_shape', /"hooks.Stop"/],
    ['a status line that is a text', '{"statusLine": "pwd"}', 'settings.unexpected_shape', /"statusLine"/],
  ])('with %s are refused and left alone', async (_, text, code, message) => {
    const { home, settings, change } = stage()
    put(settings, text)
    const done = await install(change())
    expect(done).toMatchObject({ ok: false, error: { code, file: settings, message: expect.stringMatching(message) } })
    expect(got(settings)).toBe(text)
    expect(readdirSync(home).sort()).toEqual(['.claude', 'project'])
  })

  it('that are read-only, no file, or not UTF-8 are refused', async () => {
    const { settings, change } = stage()
    put(settings, '{}', 0o444)
    expect(await install(change())).toMatchObject({ ok: false, error: { code: 'settings.not_writable' } })
    expect(readFileSync(settings, 'utf8')).toBe('{}')
    const other = stage()
    mkdirSync(other.settings, { recursive: true })
    expect(await install(other.change())).toMatchObject({ ok: false, error: { code: 'settings.unreadable' } })
    const third = stage()
    put(third.settings, '')
    writeFileSync(third.settings, Buffer.from([0x7b, 0xff, 0x7d]))
    expect(await install(third.change())).toMatchObject({ ok: false, error: { code: 'settings.malformed' } })
  })
})
