import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { CliCommand, Invocation } from '../../src/adapters/cli/invocation/invocation.ts'
import { CLI_COMMANDS } from '../../src/adapters/cli/tree/index.ts'
import { type Situation, situationsIn } from './situations.ts'

const { room, environment: base, situations } = situationsIn()
const before = process.cwd()
beforeEach(() => vi.stubEnv('HOME', base.HOME))
afterEach(() => {
  process.chdir(before)
  vi.unstubAllEnvs()
})
afterAll(() => rmSync(room, { recursive: true, force: true }))

const ID = '0190a0a0-0000-7000-8000-000000000001'
const recording = join(room, 'recording.jsonl')
writeFileSync(recording, '{"type":"user","sessionId":"s","uuid":"u","message":{"role":"user","content":"Hi"}}\n')

interface Words {
  readonly positionals?: readonly string[]
  readonly values?: Invocation['values']
}

const ONE: Words = { positionals: [ID] }

/** Every command that uses a store, with what it needs on its command line. */
const USING: Readonly<Record<string, Words>> = {
  run: { positionals: ['Fix it'], values: { command: 'true' } },
  work: { values: { agent: 'coder', command: 'true' } },
  recover: { values: { fail: true } },
  status: {},
  handoff: { values: { show: true } },
  serve: {},
  replay: { positionals: [recording], values: { store: true } },
  'audit trail': ONE,
  'audit verify': { values: { all: true } },
  'audit query': {},
  'conversations list': {},
  'conversations show': ONE,
  'sessions list': {},
  'sessions show': ONE,
  'sessions window': ONE,
  'handoffs list': {},
  'handoffs show': ONE,
  'look-back': { positionals: [ID], values: { words: 'flaky' } },
  search: { positionals: ['flaky'] },
  lineage: ONE,
  report: {},
  messages: ONE,
  turns: ONE,
  'thread handoff': { values: { preview: true, from: ID } },
  'thread status': {},
  'thread cleanup': {},
  'thread history': {},
  mcp: {},
  'migrate up': {},
  'migrate down': { values: { yes: true } },
  'migrate status': {},
  prune: {},
}

/** These know no store; or name it without using it; or have one of their own, or speak for themselves below. */
const OTHERS = Object.keys(CLI_COMMANDS).filter(
  (name) =>
    /^(?:hook|claude|codex) /.test(name) ||
    ['demo', 'doctor', 'init', 'migrate sql', 'config check', 'completion', 'thread setup'].includes(name),
)

it('every command is known here', () => {
  expect([...Object.keys(USING), ...OTHERS].sort()).toEqual(Object.keys(CLI_COMMANDS).sort())
})

interface Used {
  readonly stores: readonly string[]
  readonly remarks: string
  readonly out: string
  readonly problem: string
}

/** Carries a command out, and answers with the store it chose. */
const used = async (command: CliCommand, { positionals = [], values = {} }: Words, at: Situation): Promise<Used> => {
  process.chdir(at.workingFolder)
  const [stores, notes, out]: [string[], string[], string[]] = [[], [], []]
  const invocation: Invocation = {
    ...{ values: { ...values, ...at.flags }, positionals, argv: [], version: '0', input: async () => '' },
    environment: { PATH: process.env.PATH, ...base, ...at.environment },
    out: { line: (text) => void out.push(text) },
    notes: { line: (text) => void notes.push(text) },
    hint: (words) => words,
    interruption: () => AbortSignal.abort(),
    onStore: ({ name }) => {
      stores.push(name)
      // It is about to open it, which some servers that are not there would keep it at for minutes.
      throw new Error('The store is known')
    },
  }
  const problem = await (await command.load())(invocation).then(
    () => '',
    (error: unknown) => String(error),
  )
  return { stores, remarks: `${notes.join('\n')}\n`, out: out.join('\n'), problem }
}

const isGiven = (command: CliCommand, { flags = {} }: Situation): boolean =>
  Object.keys(flags).every((flag) => flag in command.flags)

describe.each(Object.entries(USING))('baton %s', (name, words) => {
  const command = CLI_COMMANDS[name] as CliCommand
  const possible = situations.filter((situation) => isGiven(command, situation))

  it.each(possible)('uses one store with $name', async (situation) => {
    const { stores, remarks, problem } = await used(command, words, situation)
    if (situation.refusal === undefined) expect(stores).toEqual([situation.store])
    else {
      expect(stores).toEqual([])
      expect(problem).toContain(`UsageError: ${situation.refusal}`)
    }
    for (const remark of situation.remarks ?? []) expect(remarks.split(remark)).toHaveLength(2)
    if (situation.remarks === undefined) expect(remarks).not.toMatch(/is not used|is not read/)
  })
})

describe('baton doctor', () => {
  it.each(situations)('names the store, why, and what is not used, with $name', async (situation) => {
    const { out } = await used(CLI_COMMANDS.doctor as CliCommand, { values: { json: true } }, situation)
    const { findings } = JSON.parse(out) as { findings: readonly { check: string; text: string; repair?: string }[] }
    const found = findings.filter(({ check }) => check === 'store chosen')
    const said = found.map(({ text, repair = '' }) => `${text} ${repair}`).join('\n')
    expect(said).toContain(situation.refusal ?? `${situation.store} (`)
    if (situation.remarks !== undefined) expect(said).toMatch(/is not (?:used|read)/)
    else expect(found).toHaveLength(1)
  })
})

describe('baton demo', () => {
  it.each(situations.filter(({ flags }) => flags === undefined))(
    'has a folder of its own with $name',
    async (situation) => {
      const { stores } = await used(CLI_COMMANDS.demo as CliCommand, {}, situation)
      expect(stores).toEqual([`embedded, in ${join(situation.workingFolder, 'batonpass-demo')}`])
    },
  )

  it.each(situations.filter(({ flags }) => flags !== undefined))(
    'uses the store that $name names',
    async (situation) => {
      expect((await used(CLI_COMMANDS.demo as CliCommand, {}, situation)).stores).toEqual([situation.store])
    },
  )
})
