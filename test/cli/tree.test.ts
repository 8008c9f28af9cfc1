import { describe, expect, it } from 'vitest'
import { WORDS } from '../../src/adapters/cli/invocation/flag-words.ts'
import { CLI_COMMANDS, GROUPS } from '../../src/adapters/cli/tree/index.ts'
import { HANDOFF_KINDS, HANDOFF_STATUSES } from '../../src/domain/handoff/handoff.ts'
import { SESSION_MODES } from '../../src/domain/run/session-settings.ts'
import { SESSION_STATES } from '../../src/domain/session/agent-session.ts'
import { PRESSURE_POLICIES } from '../../src/domain/window/context-monitor.ts'
import { RUNTIME_NAMES, windowReaders } from '../../src/main/runtimes.ts'
import { batonWith } from './terminal.ts'

const WINDOW_READERS = await windowReaders()

const baton = batonWith({})

const NAMES = Object.keys(CLI_COMMANDS)

/** One sentence on one line, no stack, and the status for a command line that was not understood. */
const expectMistake = async (args: readonly string[], sentence: string): Promise<void> => {
  const { code, out, err } = await baton(...args)
  expect({ code, out }).toEqual({ code: 2, out: '' })
  expect(err).toContain(sentence)
  expect(err.split('\n')).toHaveLength(1)
}

describe('help', () => {
  it('of everything is what comes without a word, and by three names', async () => {
    const { code, out } = await baton()
    expect(code).toBe(0)
    for (const word of new Set(NAMES.map((name) => name.split(' ')[0])))
      expect(out).toMatch(new RegExp(`^  ${word} `, 'm'))
    expect(out).toMatch(/^Exit status:\n {2}0 {4}done$/m)
    for (const words of [['help'], ['--help'], ['-h']]) expect((await baton(...words)).out).toBe(out)
  })

  it.each(NAMES)('of "%s" lists every flag, in two ways', async (name) => {
    const words = name.split(' ')
    const { code, out } = await baton('help', ...words)
    expect(code).toBe(0)
    expect(out).toMatch(new RegExp(`^Usage: baton ${name}`))
    for (const flag of Object.keys(CLI_COMMANDS[name]?.flags ?? {}))
      expect(out).toMatch(new RegExp(`^  --${flag}\\b`, 'm'))
    expect(await baton(...words, '--help')).toEqual({ code, out, err: '' })
  })

  it.each(Object.keys(GROUPS))('of the group "%s" lists its commands', async (group) => {
    const { code, out } = await baton('help', group)
    expect(code).toBe(0)
    const members = NAMES.filter((name) => name.startsWith(`${group} `))
    expect(members).not.toEqual([])
    for (const name of members)
      expect(out).toMatch(new RegExp(`^  ${name.split(' ')[1]} .*${CLI_COMMANDS[name]?.summary}$`, 'm'))
    expect((await baton(group, '--help')).out).toBe(out)
  })

  it('knows a group for every command of two words', () => {
    const groups = NAMES.filter((name) => name.includes(' ')).map((name) => name.split(' ')[0])
    expect(Object.keys(GROUPS).sort()).toEqual([...new Set(groups)].sort())
  })

  it('of a command that does not exist is a mistake', async () => {
    await expectMistake(['help', 'fly'], 'There is no command "fly".')
    await expectMistake(['fly', '--help'], 'There is no command "fly".')
    await expectMistake(['help', 'migrate', 'stats'], 'There is no command "migrate stats". Did you mean status?')
    await expectMistake(['help', 'demo', 'twice'], '"twice" is one word too many')
  })
})

describe('a mistake in the command line is one line with what was probably meant', () => {
  it.each<readonly [readonly string[], string]>([
    [['migate'], 'There is no command "migate". Did you mean migrate?'],
    [['handofs', 'list'], 'There is no command "handofs". Did you mean one of handoff, handoffs?'],
    [['handoffs', 'lsit'], 'There is no command "handoffs lsit". Did you mean list?'],
    [['demo', '--jsno'], '"baton demo" has no flag "--jsno". Did you mean --json? "baton help demo" lists them.'],
    [['handoffs', 'list', '--kidn', 'thread'], 'has no flag "--kidn". Did you mean --kind?'],
    [['--vresion'], '"baton" has no flag "--vresion". Did you mean --version?'],
    [['migrate'], '"baton migrate" needs one more word: up, down, status, sql.'],
    [['demo', '--database'], '--database needs a value.'],
    [['run', '--config', '--json', 'Fix it'], '--config needs a value, and "--json" looks like a flag.'],
    [['demo', 'twice'], '"twice" is one word too many'],
    [['demo', '--json=yes'], '--json'],
  ])('%j', expectMistake)

  it('does not repeat the value of a misspelled flag, which may be a secret', async () => {
    const { err } = await baton('demo', '--databse=postgres://ada:hunter2@db/agents')
    expect(err).toContain('has no flag "--databse". Did you mean --database?')
    expect(err).not.toContain('hunter2')
  })
})

it.each([['version'], ['--version'], ['-v']])('baton %s', async (word) => {
  expect(await baton(word)).toEqual({ code: 0, out: '0.0.0', err: '' })
})

describe('the words that help lists are all there are', () => {
  it.each<readonly [keyof typeof WORDS, readonly string[]]>([
    ['kinds', [...HANDOFF_KINDS, 'transfer', 'restart']],
    ['statuses', HANDOFF_STATUSES],
    ['states', SESSION_STATES],
    ['runtimes', RUNTIME_NAMES],
    ['hookRuntimes', ['claude', 'codex']],
    ['sessionModes', SESSION_MODES],
    ['policies', PRESSURE_POLICIES],
    ['formats', WINDOW_READERS.map(({ format }) => format)],
  ])('%s', (name, inForce) => {
    expect([...WORDS[name]].sort()).toEqual([...inForce].sort())
  })
})
