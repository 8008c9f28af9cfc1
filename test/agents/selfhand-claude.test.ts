import { equal, match, ok } from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { MemoryStore } from '../../src/adapters/memory/memory-store.ts'
import { systemClock } from '../../src/adapters/system/system-clock.ts'
import { type Service, serve } from '../../src/main/serve.ts'
import type { Store } from '../../src/ports/store/store.ts'
import { textOf } from './claude-runs.ts'
import { bash, uses } from './claude-stage.ts'
import { answerQuestions, NEEDS_TMUX, terminalOf } from './claude-terminal.ts'
import { askClaude, type ClaudeHome, claudeHome } from './hooks-stage.ts'
import { PATIENT } from './patience.ts'

const SMALL = uses(10, 1_000, 20_000, 60)
/** Over the point where the command compacts a window of 150,000. */
const LARGE = uses(10, 1_000, 121_000, 60)
const RULE = 'Never touch the folder quokka'
const DOCUMENT = 'Half is done: the word is numbat.'

/** Lent: a service closes its store, and the test looks into it afterwards. */
const memory = (): Store => ({ ...new MemoryStore({ clock: systemClock }), [Symbol.asyncDispose]: async () => {} })

const sessionIn = (out: string): string => /"session_id":"([0-9a-f-]{36})"/.exec(out)?.[1] ?? ''

/** The requests of the main thread, as texts. */
const turnsOf = ({ api }: ClaudeHome): readonly string[] =>
  api.requests.filter((_, index) => api.asked[index] === 'turn').map(textOf)

const serving = async ({ folder, environment }: ClaudeHome, store: Store): Promise<Service> =>
  serve({ folder, store, environment, port: 0 })

/** Leaves a document as the command and the tool do. */
const leave = async ({ folder }: ClaudeHome, { port }: Service, session: string): Promise<number> => {
  const token = readFileSync(join(folder, 'service.token'), 'utf8').trim()
  const answer = await fetch(`http://127.0.0.1:${port}/sessions/${session}/handoff`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ document: DOCUMENT, reason: 'The window is full' }),
  })
  return answer.status
}

/** The same from inside of a session. */
const LEAVING = `
import { readFileSync } from 'node:fs'
const folder = process.env.HOME + '/.batonpass/'
const { address: { port } } = JSON.parse(readFileSync(folder + 'service.json', 'utf8'))
const token = readFileSync(folder + 'service.token', 'utf8').trim()
const answer = await fetch('http://127.0.0.1:' + port + '/sessions/' + process.argv[2] + '/handoff', {
  method: 'POST',
  headers: { authorization: 'Bearer ' + token, 'content-type': 'application/json' },
  body: JSON.stringify({ document: ${JSON.stringify(DOCUMENT)} }),
})
console.log(answer.status)
`

/** The session that works on in a conversation, once everything that was reported is taken. */
const successorOf = async (store: Store, session: string) => {
  for (;;) {
    const [source] = await store.sessions.findByProviderSession(session)
    const latest = source && (await store.sessions.findLatest(source.conversationId))
    if (latest !== undefined && latest.epoch > (source?.epoch ?? 0)) return latest
    await pause(100)
  }
}

describe('the real claude that hands to itself', PATIENT, () => {
  it('has a rule of the person in front of it after an automatic compaction', async (t) => {
    const turns = [
      { tool: bash('echo one'), usage: SMALL },
      { tool: bash('echo two'), usage: LARGE },
      { text: 'Done.', usage: SMALL },
    ]
    const place = await claudeHome(t, { turns, summary: { text: '<summary>One and two.</summary>', usage: SMALL } })
    const service = await serving(place, memory())
    await using _ = { [Symbol.asyncDispose]: () => service.stop() }
    const ended = await askClaude(place, RULE, { CLAUDE_CODE_AUTO_COMPACT_WINDOW: '150000' })
    equal(ended.code, 0, ended.err)
    const compacted = turnsOf(place).filter((text) => text.includes('was compacted, and what was in it is gone'))
    ok(compacted.length > 0, 'the words came back after the compaction')
    match(compacted[0] ?? '', /<words-[0-9a-f-]+>[\s\S]*Never touch the folder quokka[\s\S]*<\/words-/)
  })

  it('begins a new session with the document while no service runs, which finishes it later', async (t) => {
    // The agent leaves the document itself, from inside of its session.
    const script = `'${process.execPath}' "$HOME/leave.mjs" "$CLAUDE_CODE_SESSION_ID"`
    const turns = [
      { tool: bash('echo one'), usage: SMALL },
      { tool: bash(script), usage: SMALL },
      { text: 'Left.', usage: SMALL },
      { text: 'I continue.', usage: SMALL },
    ]
    const place = await claudeHome(t, { turns })
    writeFileSync(join(place.home, 'leave.mjs'), LEAVING)
    const store = memory()
    const before = await serving(place, store)
    const first = await askClaude(place, RULE).finally(() => before.stop())
    equal(first.code, 0, first.err)
    const source = sessionIn(first.out)

    const second = await askClaude(place, 'Good morning.')
    equal(second.code, 0, second.err)
    const begun = turnsOf(place)[3] ?? ''
    match(begun, /<document-[0-9a-f-]+>[\s\S]*the word is numbat/)
    match(begun, /<words-[0-9a-f-]+>[\s\S]*Never touch the folder quokka/)

    const after = await serving(place, store)
    await using _ = { [Symbol.asyncDispose]: () => after.stop() }
    const target = await successorOf(store, source)
    equal(target.providerSessionId, sessionIn(second.out))
    equal(target.progress.turns, 1)
  })

  it('begins with the document after a clear', NEEDS_TMUX, async (t) => {
    const place = await claudeHome(t, {
      turns: [
        { text: 'Understood well.', usage: SMALL },
        { text: 'I continue now.', usage: SMALL },
      ],
    })
    const store = memory()
    const service = await serving(place, store)
    await using _ = { [Symbol.asyncDispose]: () => service.stop() }
    answerQuestions(place)
    const terminal = terminalOf(t, place)
    await terminal.until(/^ *window \?/m)
    terminal.type(RULE, 'Enter')
    await terminal.until(/Understood well\./)
    const [{ providerSessionId: source = '' } = {}] = (await store.sessions.list({}, { limit: 1 })).items
    // The runtime may write its transcript a moment after its hook was called.
    while ((await leave(place, service, source)) !== 201) await pause(100)
    terminal.type('/clear', 'Enter')
    await terminal.until(/^(?![\s\S]*Understood well\.)[\s\S]*window \?/m)
    terminal.type('Go on then.', 'Enter')
    await terminal.until(/I continue now\./)
    ok(turnsOf(place).some((text) => /the word is numbat[\s\S]*Never touch the folder quokka/.test(text)))
    // Its last event takes whatever was written after the others.
    terminal.type('/exit', 'Enter')
    const target = await successorOf(store, source)
    ok(target.providerSessionId !== source)
    equal((await store.sessions.findByProviderSession(source))[0]?.state, 'handed_off')
    await terminal.close()
  })
})
