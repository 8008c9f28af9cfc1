import fc from 'fast-check'
import { parse } from 'smol-toml'
import { describe, expect, it } from 'vitest'
import { claude } from '../../src/adapters/claude/vendor.ts'
import { serverEdit, settingsEdit } from '../../src/adapters/install/edits.ts'
import type { FileEdit, Past } from '../../src/adapters/install/file-edit.ts'
import type { JsonPath } from '../../src/adapters/install/json-document.ts'
import { tomlServerIn, withoutTomlServer, withTomlServer } from '../../src/adapters/install/toml-server.ts'

const hooks = Object.fromEntries(
  Object.entries(claude.terminal?.hooks ?? {}).map(([name, event]) => [name, `baton hook ${event}`]),
)
const START = { command: 'baton', args: ['mcp'] }
const EDITS: readonly FileEdit[] = [
  settingsEdit({ path: '', hooks: { program: 'baton', hooks }, statusLine: { program: 'baton', flags: '' } }),
  serverEdit('', ['mcpServers'], START),
  serverEdit('', ['projects', '/a b/"c"', 'mcpServers'], START),
]

const names = fc.string().filter((name) => name !== '__proto__')
const commands = fc
  .oneof(fc.string(), fc.constantFrom('say "it\'s"', "a 'b' \\ $c\nd", "'&", 'true'))
  .filter((text) => !text.includes('baton'))
const handler = fc.record(
  { type: fc.constant('command'), command: commands, timeout: fc.nat() },
  { requiredKeys: ['type', 'command'] },
)
const group = fc.record(
  { matcher: fc.string(), hooks: fc.array(handler, { maxLength: 3 }) },
  { requiredKeys: ['hooks'] },
)
const events = fc.constantFrom(...Object.keys(claude.terminal?.hooks ?? {}), 'PreToolUse', 'Notification')
const settings = fc
  .tuple(
    fc.dictionary(names, fc.jsonValue({ maxDepth: 3 }), { maxKeys: 5, noNullPrototype: true }),
    fc.record(
      {
        hooks: fc.dictionary(events, fc.array(group, { maxLength: 3 }), { noNullPrototype: true }),
        statusLine: fc.record(
          { type: fc.constant('command'), command: commands, padding: fc.nat() },
          { requiredKeys: ['command'] },
        ),
        mcpServers: fc.dictionary(
          names.filter((name) => name !== 'baton'),
          fc.jsonValue({ maxDepth: 1 }),
          { maxKeys: 2, noNullPrototype: true },
        ),
        projects: fc.constantFrom({}, { '/a b/"c"': { allowedTools: [] } }),
      },
      { requiredKeys: [] },
    ),
    fc.boolean(),
  )
  .map(([others, known, isKnownFirst]) => (isKnownFirst ? { ...known, ...others, ...known } : { ...others, ...known }))
  // JSON knows no negative zero.
  .map((value) => JSON.parse(JSON.stringify(value)) as Record<string, unknown>)
const layouts = fc.record({
  indent: fc.constantFrom('', '  ', '    ', '\t', ' '),
  lineEnd: fc.constantFrom('\n', '\r\n'),
  mark: fc.constantFrom('', '\uFEFF'),
  end: fc.constantFrom('', '\n', '\n\n'),
})

type Layout = typeof layouts extends fc.Arbitrary<infer Value> ? Value : never

const laidOut = (value: unknown, { indent, lineEnd, mark, end }: Layout): string =>
  `${mark}${`${JSON.stringify(value, null, indent)}${end}`.replaceAll('\n', lineEnd)}`

const read = (text: string): unknown => JSON.parse(text.replace(/^\uFEFF/, ''))

const pastWith = (made: readonly JsonPath[], original?: string): Past => ({
  receipt: { v: 1, file: '', existed: true, written: '', made, folders: [] },
  isUntouched: false,
  original,
})

const installedIn = (edit: FileEdit, text: string) => {
  const done = edit.install(text, { receipt: undefined, isUntouched: false, original: undefined })
  if (!done.ok) throw new Error(done.error.problem)
  return { text: done.value.text ?? '', made: done.value.made ?? [] }
}

const removedFrom = (edit: FileEdit, text: string, past: Past): string => {
  const done = edit.remove(text, past)
  if (!done.ok) throw new Error(done.error.problem)
  return done.value.text ?? ''
}

describe('any settings', () => {
  it('are the same bytes after our entries were put in and taken out, without a copy of them', () => {
    fc.assert(
      fc.property(settings, layouts, fc.constantFrom(...EDITS), (value, layout, edit) => {
        const text = laidOut(value, layout)
        const { text: after, made } = installedIn(edit, text)
        expect(after).not.toBe(text)
        expect(installedIn(edit, after).text).toBe(after)
        // The spelling of a status line is known from the original alone; everything else from the text itself.
        expect(read(removedFrom(edit, after, pastWith(made)))).toEqual(value)
        expect(removedFrom(edit, after, pastWith(made, text))).toBe(text)
      }),
      { numRuns: 100 },
    )
  })

  it('keep every change that was made in between', () => {
    fc.assert(
      fc.property(
        settings,
        layouts,
        layouts,
        fc.tuple(names, fc.oneof(fc.string(), fc.nat(), fc.constant([{ a: [] }])), events),
        (value, layout, other, [key, added, event]) => {
          const [edit] = EDITS
          if (edit === undefined || key in value || ['hooks', 'statusLine'].includes(key)) return
          const text = laidOut(value, layout)
          const { text: after, made } = installedIn(edit, text)
          const mine = { matcher: 'mine', hooks: [{ type: 'command', command: 'true' }] }
          const change = (settings: Record<string, unknown>): unknown => {
            const { [event]: there = [], ...rest } = (settings.hooks ?? {}) as Record<string, unknown[]>
            return { [key]: added, ...settings, hooks: { ...rest, [event]: [mine, ...there] } }
          }
          const edited = laidOut(change(read(after) as Record<string, unknown>), other)
          expect(read(removedFrom(edit, edited, pastWith(made, text)))).toEqual(change(value))
        },
      ),
      { numRuns: 100 },
    )
  })
})

describe('any configuration of Codex', () => {
  const line = fc.constantFrom(
    '',
    '# mine',
    'model = "gpt"',
    '[projects."/a"]',
    'trust_level = "trusted"',
    '[mcp_servers.other]',
    'command = "x"',
    '  [features] # on',
  )
  const isToml = (text: string): boolean => {
    try {
      return Boolean(parse(text))
    } catch {
      return false
    }
  }

  it.each([
    ['an inline table', '[mcp_servers]\nbaton = { command = "baton", args = ["mcp"] }\n'],
    ['a dotted name', 'mcp_servers.baton.command = "baton"\nmcp_servers.baton.args = ["mcp"]\n'],
    ['one inline table of servers', 'mcp_servers = { "baton" = { command = "x" } }\n'],
    ['a table with an address', '[mcp_servers."baton"]\nurl = "http://127.0.0.1:1"\n'],
    ['a table below it', '[mcp_servers.baton.env]\nA = "1"\n'],
  ])('that names a server of our name by %s is left as it is', (_, text) => {
    expect(tomlServerIn(text)).toBe('foreign')
    expect(withTomlServer(text, START)).toMatchObject({ ok: false, error: { code: 'settings.foreign_entry' } })
    expect(withoutTomlServer(text)).toEqual({ ok: true, value: text })
  })

  it.each(['[mcp_servers.baton\n', 'model = \n', 'a = 1\na = 2\n', '[mcp_servers.baton]\ncommand = "baton\n'])(
    'that is no TOML is refused, with the place: %j',
    (text) => {
      expect(tomlServerIn(text)).toBeUndefined()
      for (const after of [withTomlServer(text, START), withoutTomlServer(text)])
        expect(after).toMatchObject({
          ok: false,
          error: { code: 'settings.malformed', problem: expect.stringMatching(/line \d+, column \d+/) },
        })
    },
  )

  it('keeps a text that only looks like our table', () => {
    const text = 'notes = """\n[mcp_servers.baton]\ncommand = "baton"\nargs = ["mcp"]\n"""\n'
    expect(withoutTomlServer(text)).toEqual({ ok: true, value: text })
    const after = withTomlServer(text, START)
    // Lines alone cannot tell the two apart, so nothing is taken out.
    if (!after.ok) throw new Error(after.error.problem)
    expect(withoutTomlServer(after.value)).toMatchObject({ ok: false, error: { code: 'settings.malformed' } })
  })

  it('keeps its lines, and those that Codex adds after ours', () => {
    fc.assert(
      fc.property(fc.array(line), fc.array(line), fc.constantFrom('\n', '\r\n'), (before, later, lineEnd) => {
        const text = before.map((one) => `${one}${lineEnd}`).join('')
        const after = withTomlServer(text, START)
        const more = ['[tui]', ...later].map((one) => `${one}${lineEnd}`).join('')
        // A name that is there twice is no TOML: such a file is refused, and never changed.
        if (!isToml(text)) {
          expect(after).toMatchObject({ ok: false, error: { code: 'settings.malformed' } })
          return
        }
        if (!after.ok) throw new Error(after.error.problem)
        expect(withTomlServer(after.value, START)).toEqual(after)
        expect(withoutTomlServer(after.value)).toEqual({ ok: true, value: text })
        if (isToml(`${text}${more}`))
          expect(withoutTomlServer(`${after.value}${more}`)).toEqual({ ok: true, value: `${text}${more}` })
      }),
      { numRuns: 100 },
    )
  })
})
