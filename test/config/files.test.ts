import { writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { readConfiguration } from '../../src/entry/index.ts'
import { runsOf } from '../support/amounts.ts'
import { fileWith, problemsIn } from './checking.ts'

const BOMB = [
  'a: &a [x, x, x, x, x, x, x, x, x]',
  ...[...'bcdefgh'].map((name, at) => `${name}: &${name} [${Array(9).fill(`*${'abcdefgh'[at]}`).join(', ')}]`),
].join('\n')

describe('a file', () => {
  it.each([
    ['a key twice', 'context_limit: 1\ncontext_limit: 2\n', 2, 'a key stands here twice', 'Keep one of them.'],
    ['two documents', 'session:\n---\nsession:\n', 2, 'a second document begins here', 'Keep one document in a file.'],
    ['tabs', 'session:\n\tcontext_threshold: 0.1\n', 2, 'a tab is used to indent', 'Use spaces.'],
    [
      'a tag',
      'session:\n  context_threshold: !!binary aGk=\n',
      2,
      'a tag stands here',
      'Write plain values, without ! tags.',
    ],
    ['a tag of its own', 'a: 1\nb: !js/function x\n', 2, 'a tag stands here', 'Write plain values, without ! tags.'],
  ])('with %s is refused, with the line', async (_, text, line, problem, advice) => {
    expect((await problemsIn(fileWith(text)))[0]).toEqual({ path: '', problem, advice, line })
  })

  it('that is not YAML is refused in a few words', async () => {
    const problems = await problemsIn(fileWith('session: [\n'))
    expect(problems.length).toBeLessThanOrEqual(3)
    expect(problems[0]).toMatchObject({ problem: expect.stringMatching(/^it is not YAML: /), line: expect.any(Number) })
  })

  it('that is not JSON is refused, with the line, even if it were YAML', async () => {
    const wrong = { path: '', problem: 'it is not JSON', advice: 'Check commas and quotes.' }
    expect(await problemsIn(fileWith('{\n  "session": {},\n}', 'a.json'))).toEqual([{ ...wrong, line: 3 }])
    expect(await problemsIn(fileWith('session: {}', 'a.json'))).toEqual([wrong])
    expect(await problemsIn(fileWith('{"session": {},\n "session": {}}', 'a.json'))).toMatchObject([
      { problem: 'a key stands here twice', line: 2 },
    ])
  })

  it('that would grow without end is refused', async () => {
    expect(await problemsIn(fileWith(BOMB))).toMatchObject([{ problem: 'its aliases cannot be followed' }])
    expect(await problemsIn(fileWith('session: *nowhere'))).toMatchObject([
      { problem: 'its aliases cannot be followed' },
    ])
  })

  it.each([
    ['brackets', '['.repeat(5_000), 'a.yaml'],
    ['braces', '{a: '.repeat(1_500), 'a.yaml'],
    ['dashes', '- '.repeat(2_500), 'a.yaml'],
    ['questions', '? '.repeat(2_500), 'a.yaml'],
    ['indents', [...Array(600).keys()].map((level) => `${' '.repeat(level)}a:`).join('\n'), 'a.yaml'],
    ['JSON', `${'['.repeat(4_000)}${']'.repeat(4_000)}`, 'a.json'],
  ])('that nests too deep is refused, and the process lives on: %s', async (_, text, name) => {
    expect(await problemsIn(fileWith(text, name))).toEqual([
      { path: '', problem: 'it nests too deep', advice: 'Close what was opened.' },
    ])
  })

  it('may use an alias', async () => {
    const text = 'hooks:\n  after_run: &same\n    - { type: shell, command: "true" }\n  on_error: *same\n'
    expect((await readConfiguration(fileWith(text))).configuration.hooks).toHaveLength(2)
  })

  it('does not merge, and does not know the booleans of old YAML', async () => {
    expect(await problemsIn(fileWith('<<: { context_limit: 5 }'))).toMatchObject([{ path: '<<' }])
    expect(await problemsIn(fileWith('%YAML 1.1\n---\ncontext_monitor: { enabled: on }'))).toMatchObject([
      { path: 'context_monitor.enabled' },
    ])
  })

  it('names the line of each problem, in order', async () => {
    const text = [
      'sesion: 1',
      'session:',
      '  context_threshold: 10',
      'hooks:',
      '  after_run:',
      '    - type: shell',
      '      command: "true"',
      '    - type: shell',
      '      comand: "true"',
      'milestones: [0.5,',
      '  65]',
      '__proto__: { polluted: true }',
    ].join('\n')
    expect((await problemsIn(fileWith(text))).map(({ path, line }) => `${line} ${path}`)).toEqual([
      '1 sesion',
      '3 session.context_threshold',
      '8 hooks.after_run[1].command',
      '9 hooks.after_run[1].comand',
      '11 milestones[1]',
      '12 __proto__',
    ])
    const json = '{\n\t"session": {\n\t\t"context_threshold": 10\n\t}\n}'
    expect(await problemsIn(fileWith(json, 'a.json'))).toMatchObject([{ path: 'session.context_threshold', line: 3 }])
  })

  it.each([
    ['is not there', () => join(dirname(fileWith('')), 'absent.yaml'), 'there is no such file'],
    ['is a folder', () => dirname(fileWith('')), 'it is not a file'],
    ['is too large', () => fileWith(`# ${'x'.repeat(300_000)}`), 'it has 300002 bytes'],
    ['is not UTF-8', () => fileWith(new Uint8Array([0x61, 0x3a, 0x20, 0xff])), 'it is not text in UTF-8'],
    ['holds a list', () => fileWith('- a'), 'a list stands where keys are expected'],
    ['holds a word', () => fileWith('hello'), '"hello" stands where keys are expected'],
  ])('that %s is refused', async (_, file, problem) => {
    expect(await problemsIn(file())).toMatchObject([{ path: '', problem }])
  })

  it('may begin with a byte order mark', async () => {
    const { configuration } = await readConfiguration(fileWith('\ufeffcontext_limit: 7'))
    expect(configuration.contextLimit).toBe(7)
    expect((await readConfiguration(fileWith('\ufeff{"context_limit": 7}', 'a.json'))).configuration.contextLimit).toBe(
      7,
    )
  })

  it('of any text is used or refused, and nothing else happens', async () => {
    const files = [fileWith('', 'any.yaml'), fileWith('', 'any.json')]
    const pieces = [
      'session',
      'milestones',
      ': ',
      '- ',
      '? ',
      '[',
      ']',
      '{',
      '}',
      ',',
      '\n',
      '  ',
      '\t',
      '&a ',
      '*a',
      '!!x ',
    ]
    const others = ['"', "'", '|', '>', '#', '%YAML 1.1\n', '---\n', '0.5', '__proto__', 'null', '\u0000', '\ufeff']
    const text = fc.array(fc.oneof(fc.constantFrom(...pieces, ...others), fc.string())).map((parts) => parts.join(''))
    await fc.assert(
      fc.asyncProperty(text, fc.constantFrom(...files), async (written, file) => {
        writeFileSync(file, written)
        for (const { problem, advice } of await problemsIn(file)) expect([problem, advice]).not.toContain('')
      }),
      { numRuns: runsOf(500) },
    )
  })
})
