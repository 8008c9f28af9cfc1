import { mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { beforeAll, describe, expect, it } from 'vitest'
import { outputsOn } from '../../src/adapters/cli/terminal/outputs.ts'
import { createBatonpass, unwrap } from '../../src/entry/index.ts'
import { database, folder, spawnBaton } from './spawned.ts'
import type { Said } from './terminal.ts'

/** Colours, a title, a link, a cleared screen, text turned around, hidden text, half a character, and a line of our own. */
const NASTY =
  '\u001b[31mred\u001b]8;;http://evil\u0007 \u009b2J \u202egnp\u2066 \u200b\u2028\u007f\r\nbaton: all is well \u{e0041}'
/** The same, as a file may be called: no half characters. */
const NAME = NASTY.replaceAll('/', '-').slice(0, 60)

/** All that may reach a terminal: what people can see, and line breaks. */
const UNSAFE = /[^\P{Cc}\n]|[\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\u{e0000}-\u{e0fff}]/u

const AGENT = fileURLToPath(new URL('./hostile-agent.mjs', import.meta.url))
const COMMAND = `exec "${process.execPath}" "${AGENT}"`

let url: string
let ids: { readonly conversation: string; readonly session: string; readonly handoff: string; readonly turn: string }

/** A record in which every text that can be chosen is hostile. */
const hostileRecord = async (): Promise<typeof ids> => {
  await using batonpass = await createBatonpass({ database: url })
  const { handoffs } = batonpass
  const opening = { originalTask: NASTY, externalKey: NASTY, subject: NASTY, workspace: { branch: NASTY } }
  const { conversation } = unwrap(await handoffs.openConversation(opening))
  const agent = { agentName: NASTY, backend: NASTY, model: NASTY, providerSessionId: NASTY }
  const started = unwrap(await handoffs.startSession({ conversationId: conversation.id, ...agent }))
  const toolCalls = [{ callId: NASTY, toolName: NASTY }]
  const usage = { state: 'metered', promptTokens: 100, outputTokens: 10 } as const
  const messages = [{ role: 'assistant', text: NASTY, toolCalls }] as const
  const worked = unwrap(await handoffs.recordTurn({ ...started, messages, usage }))
  const asked = { targetAgent: `${NASTY}2`, reason: NASTY, document: NASTY }
  const { handoff } = unwrap(await handoffs.initiateHandoff({ ...worked, ...asked }))
  unwrap(await handoffs.acceptHandoff({ handoff, claimant: NASTY }))
  const [turn] = worked.turns
  return { conversation: conversation.id, session: worked.session.id, handoff: handoff.id, turn: turn?.id ?? '' }
}

beforeAll(async () => {
  url = await database()
  ids = await hostileRecord()
})

const baton = (...args: readonly string[]): Promise<Said> =>
  spawnBaton(args, { BATONPASS_DATABASE_URL: url, NASTY }).ended

/** Nothing but what people can see, and no line that somebody else began. */
const expectHarmless = ({ out, err }: Pick<Said, 'out' | 'err'>): void => {
  expect(out + err).not.toMatch(UNSAFE)
  expect(`${out}\n${err}`.split('\n').filter((line) => line.startsWith('baton: all is well'))).toEqual([])
}

describe('a record with hostile texts', () => {
  it.each<readonly [string, () => readonly string[]]>([
    ['conversations list', () => []],
    ['conversations show', () => [ids.conversation]],
    ['sessions list', () => []],
    ['sessions show', () => [ids.session]],
    ['sessions window', () => [ids.turn]],
    ['handoffs list', () => []],
    ['handoffs show', () => [ids.handoff]],
    ['lineage', () => [ids.conversation]],
    ['messages', () => [ids.conversation]],
    ['turns', () => [ids.session]],
    ['audit trail', () => [ids.conversation]],
    ['audit query', () => []],
    ['audit verify', () => ['--all']],
  ])('steers no terminal through "baton %s", and stays what it is in JSON', async (command, words) => {
    const args = [...command.split(' '), ...words()]
    const said = await baton(...args)
    expect(said.code).toBe(0)
    expectHarmless(said)
    const json = await baton(...args, '--json')
    expectHarmless(json)
    const document = JSON.stringify(JSON.parse(json.out))
    if (!command.startsWith('audit verify')) expect(document).toContain(JSON.stringify(NASTY).slice(1, -1))
  })
})

describe('hostile words on a command line', () => {
  it.each<readonly [number, readonly string[]]>([
    [2, [NAME]],
    [2, ['run', NAME, NAME]],
    [2, ['run', '--cwd', NAME, 'Fix it']],
    [2, ['run', '--config', NAME, 'Fix it']],
    [2, ['run', '--prompt-file', NAME]],
    [2, ['run', `--${NAME}`, 'Fix it']],
    [2, ['run', '--runtime', NAME, 'Fix it']],
    [2, ['run', '--allow-network', NAME, 'Fix it']],
    [2, ['config', 'check', NAME]],
    [2, ['replay', NAME]],
    [2, ['replay', '--milestones', NAME, AGENT]],
    [2, ['migrate', 'down', NAME]],
    [2, ['migrate', 'up', NAME]],
    [2, ['audit', 'trail', NAME]],
    [2, ['audit', 'trail', 'x', NAME]],
    [3, ['audit', 'trail', '--key', NAME]],
    [3, ['sessions', 'show', '--key', NAME]],
    [2, ['sessions', 'list', '--state', NAME]],
    [2, ['handoffs', 'list', '--since', NAME]],
    [2, ['handoffs', 'list', '--after', NAME]],
    [2, ['lineage', NAME]],
    [2, ['prune', '--older-than', NAME]],
    [7, ['conversations', 'list', '--data-dir', NAME]],
    [1, ['conversations', 'list', '--database', `postgres://127.0.0.1:1/${NAME}`]],
    [1, ['conversations', 'list', '--schema', NAME]],
    [1, ['migrate', 'status', '--schema', 'x'.repeat(80) + NAME]],
  ])('end with status %i and steer nothing: %j', async (code, args) => {
    const said = await baton(...args)
    expectHarmless(said)
    expect([code, 1, 2, 3]).toContain(said.code)
    expect(said.err).toMatch(/^(Store: .*\n)?baton: /)
  })
})

describe('a hostile configuration', () => {
  const key = JSON.stringify(NASTY)
  const TEXTS: readonly (readonly [string, string])[] = [
    ['keys', `{${key}: 1, "session": {${key}: 2}, "hooks": {"after_run": [{${key}: 3, "type": ${key}}]}}`],
    [
      'names of headers',
      `{"hooks": {"after_run": [{"type": "webhook", "url": "https://x.org", "headers": {${key}: "a"}}]}}`,
    ],
    ['values', `{"restart": {"policy": ${key}, "template_file": ${key}}, "context_limit": ${key}}`],
    ['nothing that is YAML or JSON', NASTY],
  ]

  it.each(TEXTS)('with such %s is refused on a terminal', async (_, text) => {
    const place = join(folder(), NAME)
    mkdirSync(place)
    for (const file of ['evil.yaml', 'evil.json'].map((name) => join(place, `${NAME}${name}`))) {
      writeFileSync(file, text)
      for (const args of [
        ['run', '--config', file, '--command', COMMAND, 'Fix it'],
        ['recover', '--config', file],
        ['prune', '--config', file],
        ['config', 'check', file],
        ['config', 'check', file, '--json'],
      ]) {
        const said = await baton(...args)
        expectHarmless(said)
        expect(said.code).toBe(3)
      }
    }
  })

  it('that can be used shows its names and no more', async () => {
    const file = join(folder(), `${NAME}.json`)
    const hook = { type: 'shell', name: NASTY, command: `printf '${NASTY.replaceAll('\n', '\\n')}' >&2; exit 1` }
    const hooks = { on_session_start: [hook], on_error: [hook], after_run: [hook] }
    writeFileSync(file, JSON.stringify({ hooks, workspace: { branch: NASTY } }))
    const refused = await baton('config', 'check', file)
    expect(refused.code).toBe(3)
    expectHarmless(refused)
    writeFileSync(file, JSON.stringify({ hooks }))
    const checked = await baton('config', 'check', file)
    expect(checked.code).toBe(0)
    expectHarmless(checked)
    for (const flags of [[], ['--verbose'], ['--json', '--messages'], ['--quiet']]) {
      const agent = ['--agent', NASTY, '--conversation', `run ${NASTY}${flags.join('')}`]
      const said = await baton('run', '--config', file, '--command', COMMAND, ...agent, ...flags, NASTY)
      // What an agent says has lines of its own on standard output, and nowhere else.
      expect(said.out).not.toMatch(UNSAFE)
      expectHarmless({ ...said, out: said.out.replace('\nbaton: all is well', ' ') })
      expect(said.code).toBe(1)
      expect(said.out + said.err).toContain('hook')
      if (flags.includes('--json'))
        for (const line of said.out.trim().split('\n')) expect(JSON.parse(line)).toHaveProperty('type')
    }
  })
})

describe('a hostile recording', () => {
  it('steers nothing through its name or its words', async () => {
    const place = folder()
    const message = {
      id: 'msg_1',
      model: NASTY,
      content: [{ type: 'text', text: NASTY }],
      usage: { input_tokens: 5, output_tokens: 1 },
    }
    writeFileSync(
      join(place, `${NAME}.jsonl`),
      `${JSON.stringify({ type: 'assistant', sessionId: NASTY, uuid: 'u', message })}\n`,
    )
    for (const flags of [[], ['--json'], ['--store']]) {
      const said = await baton('replay', place, ...flags)
      expectHarmless(said)
    }
    expect(readdirSync(place)).toHaveLength(1)
  })
})

describe('the status line', () => {
  it('is drawn with our own marks and nobody else’s', () => {
    const written: string[] = []
    const stream = { isTTY: true, columns: 200, write: (text: string) => written.push(text) }
    const { out, err } = outputsOn(stream, stream)
    err.status?.(NASTY)
    out.line(NASTY)
    err.line(NASTY)
    err.status?.('')
    const others = written.filter((text) => text !== '\r\u001b[2K')
    expect(others).toHaveLength(5)
    for (const text of others) expect(text).not.toMatch(UNSAFE)
    expect(others[0]).not.toContain('\n')
  })
})
