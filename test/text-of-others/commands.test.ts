import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { CLI_COMMANDS } from '../../src/adapters/cli/tree/index.ts'
import { createBatonpass } from '../../src/entry/index.ts'
import { batonOn } from '../cli/terminal.ts'
import { cloneDatabase, withDatabase } from '../support/test-databases.ts'
import { expectHarmlessLines, NASTY, textsIn } from './nasty.ts'
import { hostileRecord } from './record.ts'

const folder = mkdtempSync(join(tmpdir(), 'others-'))
let database: string
let there: Awaited<ReturnType<typeof hostileRecord>>
beforeAll(async () => {
  database = withDatabase(process.env.TEST_DATABASE_URL ?? '', await cloneDatabase())
  await using batonpass = await createBatonpass({ database })
  there = await hostileRecord(batonpass, folder)
  writeFileSync(join(folder, 'broken.json'), JSON.stringify({ [NASTY]: 1, session: { context_threshold: NASTY } }))
})
afterAll(() => rmSync(folder, { recursive: true, force: true, maxRetries: 10 }))

/** How a command is tried: its words, whether the nasty text is among its values in JSON, and its exit status. */
interface Try {
  readonly words: () => readonly string[]
  /** Its JSON has the text as it is. Otherwise it has none of it, or no JSON. */
  readonly isExact?: true
  readonly status?: number
  readonly hasNoJson?: true
}

/** Every command that shows what is on record, or words of the one who calls. */
const TRIED: Readonly<Record<string, Try>> = {
  'conversations list': { words: () => [], isExact: true },
  'conversations show': { words: () => [there.conversation.id], isExact: true },
  'sessions list': { words: () => [], isExact: true },
  'sessions show': { words: () => [there.session.id], isExact: true },
  'sessions window': { words: () => [there.turn?.id ?? ''], isExact: true },
  'handoffs list': { words: () => [], isExact: true },
  'handoffs show': { words: () => [there.waiting.id], isExact: true },
  lineage: { words: () => [there.conversation.id], isExact: true },
  messages: { words: () => [there.conversation.id], isExact: true },
  turns: { words: () => [there.session.id], isExact: true },
  report: { words: () => ['--since', '2000-01-01'] },
  search: { words: () => ['red'], isExact: true },
  'look-back': { words: () => [there.session.id, '--words', 'red'], isExact: true },
  'audit trail': { words: () => [there.conversation.id], isExact: true },
  'audit query': { words: () => [], isExact: true },
  'audit verify': { words: () => ['--all'] },
  status: { words: () => [], isExact: true },
  'thread handoff': { words: () => ['--from', there.conversation.id, '--preview'] },
  'thread status': { words: () => ['--workspace', folder] },
  'thread cleanup': { words: () => ['--workspace', folder] },
  'thread setup': { words: () => ['--workspace', folder] },
  'thread history': { words: () => [] },
  'config check': { words: () => [join(folder, 'broken.json')], status: 3 },
  prune: { words: () => ['--dry-run'] },
  'migrate status': { words: () => [] },
}

/** Commands that show no text of others, or that are tried in the file that is named here. */
const ELSEWHERE: Readonly<Record<string, string>> = {
  run: 'test/cli/hostile-names.test.ts',
  recover: 'test/text-of-others/run-events.test.ts',
  work: 'test/text-of-others/run-events.test.ts',
  replay: 'test/cli/hostile-names.test.ts',
  handoff: 'test/text-of-others/service.test.ts',
  init: 'shows no record, and names no folder but the one it is given',
  serve: 'test/text-of-others/service.test.ts',
  mcp: 'test/text-of-others/tools.test.ts',
  'hook statusline': 'test/text-of-others/service.test.ts',
  'hook session-start': 'test/text-of-others/service.test.ts',
  'hook user-prompt-submit': 'test/text-of-others/service.test.ts',
  'hook post-tool-use': 'test/text-of-others/service.test.ts',
  'hook pre-compact': 'test/text-of-others/service.test.ts',
  'hook post-compact': 'test/text-of-others/service.test.ts',
  'hook stop': 'test/text-of-others/service.test.ts',
  'hook session-end': 'test/text-of-others/service.test.ts',
  demo: 'a record of our own',
  completion: 'words of our own',
  doctor: 'words of our own; paths are tried in test/cli/hostile-names.test.ts',
  'claude install': 'words of our own, and a difference of the person’s own file',
  'claude uninstall': 'words of our own, and a difference of the person’s own file',
  'claude status': 'words of our own',
  'codex install': 'words of our own, and a difference of the person’s own file',
  'codex uninstall': 'words of our own, and a difference of the person’s own file',
  'codex status': 'words of our own',
  'migrate up': 'names of our own files',
  'migrate down': 'names of our own files',
  'migrate sql': 'our own files',
}

describe('every command', () => {
  it('is tried with a nasty record, or it is said where and why not', () => {
    expect([...Object.keys(TRIED), ...Object.keys(ELSEWHERE)].sort()).toEqual(Object.keys(CLI_COMMANDS).sort())
    const files = Object.values(ELSEWHERE).filter((where) => /^test\/\S+$/.test(where))
    expect(files.filter((file) => !existsSync(file))).toEqual([])
  })

  it.each(Object.entries(TRIED))('%s shows a nasty record, and obeys nothing in it', async (name, tried) => {
    const baton = batonOn(database, 100)
    const args = [...name.split(' '), ...tried.words()]
    const said = await baton(...args)
    expect(said.code, said.err).toBe(tried.status ?? 0)
    expectHarmlessLines(`${said.out}\n${said.err}`)
    const json = await baton(...args, '--json')
    expect(json.code).toBe(tried.status ?? 0)
    expectHarmlessLines(`${json.out}\n${json.err}`)
    const texts = textsIn(JSON.parse(json.out))
    if (tried.isExact) expect(texts.some((text) => text.includes(NASTY))).toBe(true)
  })

  it('names what it cannot find, and obeys nothing in it', async () => {
    const baton = batonOn(database)
    for (const name of Object.keys(TRIED)) {
      const said = await baton(...name.split(' '), NASTY.replaceAll('\0', ''), `--${NASTY.replaceAll('\0', '')}`)
      expectHarmlessLines(`${said.out}\n${said.err}`)
    }
  })
})

describe('a summary in a memory file', () => {
  it('is harmless, whatever the record says', async () => {
    const { code, err } = await batonOn(database)('thread', 'handoff', '--from', there.conversation.id, '--apply')
    expect(code, err).toBe(0)
    const written = readFileSync(join(folder, 'CLAUDE.md'), 'utf8')
    expect(written).toContain('red')
    expectHarmlessLines(written)
    for (const command of ['status', 'cleanup']) {
      const said = await batonOn(database)('thread', command, '--workspace', folder)
      expectHarmlessLines(`${said.out}\n${said.err}`)
    }
  })
})
