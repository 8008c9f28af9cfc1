import { deepEqual, equal, match, ok } from 'node:assert/strict'
import { readFileSync, realpathSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { MemoryStore } from '../../src/adapters/memory/memory-store.ts'
import { systemClock } from '../../src/adapters/system/system-clock.ts'
import { readBlock } from '../../src/domain/memory-block/memory-block.ts'
import { type Batonpass, type ConversationId, createBatonpass } from '../../src/entry/index.ts'
import { serve } from '../../src/main/serve.ts'
import { textOf } from './claude-runs.ts'
import { RUNTIMES, stage, uses } from './claude-stage.ts'
import { askClaude, claudeHome } from './hooks-stage.ts'
import type { MessagesApi } from './messages-api.ts'
import { PATIENT } from './patience.ts'

const SMALL = uses(10, 1_000, 20_000, 60)
const HOUSE = '# House rules\n\nAlways be kind to quokkas.\n'
const WORD = 'the word is numbat'

/** The first request of the main thread that holds these words. */
const firstWith = ({ asked, requests }: MessagesApi, words: string): string =>
  requests
    .filter((_, index) => asked[index] === 'turn')
    .map(textOf)
    .find((text) => text.includes(words)) ?? ''

const stateOf = (home: string): string => {
  const read = readBlock(readFileSync(join(home, 'CLAUDE.md'), 'utf8'))
  return read.ok ? read.value.state : read.error.code
}

/** Opens a thread with a summary that says the word. */
const openThread = async ({ threads }: Batonpass, conversation: ConversationId, workspace: string) => {
  const draft = await threads.preview({ conversation, workspace, summary: `## Objective\nGo on: ${WORD}.` })
  ok(draft.ok, 'there is a draft')
  const accepted = await threads.accept(draft.value, { key: 'second' })
  ok(accepted.ok, 'the thread is open')
  return accepted.value
}

const answers = ['One.', 'Two.', 'Three.', 'Four.'].map((text) => ({ text, usage: SMALL }))

describe('a thread of the real claude', PATIENT, () => {
  it('has the summary in its first request, and the third thread has not, through the runner', async (t) => {
    const make = RUNTIMES.claude_code
    ok(make)
    const { api, home, runtime } = await stage(t, make, { turns: answers })
    writeFileSync(join(home, 'CLAUDE.md'), HOUSE)
    const batonpass = await createBatonpass({ store: 'memory' })
    t.after(() => batonpass.close())
    const workspace = { workingDirectory: home }
    const run = (conversation: string, prompt: string) =>
      batonpass.run({ runtime, agent: 'claude', conversation, prompt, workspace }).finish()
    const { conversationId } = await run('first', 'Begin with quolls.')
    const { conversation, session } = await openThread(batonpass, conversationId, home)
    equal(stateOf(home), 'held')

    const second = await run('second', 'Go on with bilbies.')
    deepEqual([second.outcome, second.conversationId, second.lastSessionId], ['completed', conversation.id, session.id])
    const begun = firstWith(api, 'Go on with bilbies.')
    ok(begun.includes(WORD), 'the summary is in the first request of the new thread')
    match(begun, /current_thread_summary[\s\S]*For the thread[\s\S]*the word is numbat/)
    ok(begun.includes('Always be kind to quokkas.'), 'and so is the rest of the file')
    ok(!begun.includes('"One."'), 'the history was not copied')
    equal(stateOf(home), 'free')

    // The command keeps what it has read in its own history: there the thread has it as long as its window lasts.
    await run('second', 'More bilbies.')
    ok(firstWith(api, 'More bilbies.').includes(WORD))
    equal(stateOf(home), 'free')
    await run('third', 'Something about dingoes.')
    const third = firstWith(api, 'Something about dingoes.')
    ok(third.includes('Always be kind to quokkas.'), 'the file was read')
    ok(!third.includes(WORD), 'the summary is not in the first request of the third thread')
  })

  it('has it in a terminal as well, whose first stop takes it out', async (t: TestContext) => {
    const place = await claudeHome(t, { turns: answers })
    const { api, folder, environment } = place
    const home = realpathSync(place.home)
    writeFileSync(join(home, 'CLAUDE.md'), HOUSE)
    const store = new MemoryStore({ clock: systemClock })
    const service = await serve({ folder, store, environment })
    await using _ = { [Symbol.asyncDispose]: () => service.stop() }
    const batonpass = await createBatonpass({ store })
    t.after(() => batonpass.close())

    equal((await askClaude(place, 'Begin with quolls.')).code, 0)
    const parent = await spoken(batonpass, 1)
    const { conversation } = await openThread(batonpass, parent, home)
    equal((await askClaude(place, 'Go on with bilbies.')).code, 0)
    ok(firstWith(api, 'Go on with bilbies.').includes(WORD), 'the summary is in the first request of the new thread')
    while (stateOf(home) !== 'free') await pause(100)
    const [first] = (await batonpass.history.sessions(conversation.id, {})).items
    ok(first?.providerSessionId, 'the terminal is the first session of the thread')
    while (((await batonpass.history.session(first.id))?.progress.turns ?? 0) === 0) await pause(100)
    const said = (await batonpass.history.messages(conversation.id, {})).items
    ok(
      said.some(({ text }) => text === 'Go on with bilbies.'),
      'its turns are recorded in the thread',
    )

    equal((await askClaude(place, 'Something about dingoes.')).code, 0)
    const third = firstWith(api, 'Something about dingoes.')
    ok(third.includes('Always be kind to quokkas.') && !third.includes(WORD), 'nothing leaks into the third thread')
  })
})

/** The conversation that has spoken, once everything that was reported is taken. */
const spoken = async ({ history }: Batonpass, turns: number): Promise<ConversationId> => {
  for (;;) {
    const { items } = await history.listSessions({}, { limit: 10 })
    const found = items.find(({ progress }) => progress.turns >= turns)
    if (found !== undefined) return found.conversationId
    await pause(100)
  }
}
