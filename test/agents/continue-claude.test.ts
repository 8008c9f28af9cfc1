import { equal, match, ok } from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { MemoryStore } from '../../src/adapters/memory/memory-store.ts'
import { systemClock } from '../../src/adapters/system/system-clock.ts'
import { type Service, serve } from '../../src/main/serve.ts'
import { everyPage } from '../../src/ports/store/page.ts'
import type { Store } from '../../src/ports/store/store.ts'
import { textOf } from './claude-runs.ts'
import { uses } from './claude-stage.ts'
import { answerQuestions, NEEDS_TMUX, terminalOf } from './claude-terminal.ts'
import { type ClaudeHome, claudeHome } from './hooks-stage.ts'
import { PATIENT } from './patience.ts'

const SMALL = uses(10, 1_000, 20_000, 60)
const RULES = ['Never touch quokka', 'Never touch numbat', 'Never touch bilby', 'Never touch dingo'] as const
const [FIRST, SECOND, THIRD, FOURTH] = RULES
const DOCUMENT = 'Half is done: the word is wombat.'

/** Leaves a document as the command and the tool do. The runtime may write its transcript a moment later. */
const leave = async ({ folder }: ClaudeHome, { port }: Service, session: string): Promise<void> => {
  const token = readFileSync(join(folder, 'service.token'), 'utf8').trim()
  const asked = {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ document: DOCUMENT }),
  }
  while ((await fetch(`http://127.0.0.1:${port}/sessions/${session}/handoff`, asked)).status !== 201) await pause(100)
}

const sessionsOf = async (store: Store) => {
  const all = []
  for await (const session of everyPage((page) => store.sessions.list({}, page))) all.push(session)
  return all
}

const count = (text: string, word: string): number => text.split(word).length - 1

describe('the real claude that is continued', PATIENT, () => {
  it(
    'has every rule of the person before it: of before the handoff, after the clear, and after --continue',
    NEEDS_TMUX,
    async (t) => {
      let answers = 0
      const place = await claudeHome(t, {
        play: () => ({ text: `Understood ${++answers}.`, usage: SMALL }),
        summary: { text: '<summary>Rules were given.</summary>', usage: SMALL },
      })
      const store: Store = { ...new MemoryStore({ clock: systemClock }), [Symbol.asyncDispose]: async () => {} }
      const service = await serve({ folder: place.folder, store, environment: place.environment, port: 0 })
      await using _ = { [Symbol.asyncDispose]: () => service.stop() }
      answerQuestions(place)

      const terminal = terminalOf(t, place)
      await terminal.until(/^ *window \?/m)
      terminal.type(FIRST, 'Enter')
      await terminal.until(/Understood 1\./)
      const [{ providerSessionId: source = '' } = {}] = await sessionsOf(store)
      await leave(place, service, source)
      // It draws its line anew when something happens, such as another mode.
      while (!terminal.shown().includes('a document waits here')) {
        terminal.type('BTab')
        await pause(1_000)
      }
      terminal.type('/clear', 'Enter')
      // The person is told, in the terminal that gets it.
      await terminal.until(/SessionStart:clear says: Batonpass: this session begins with the document that/)
      terminal.type(SECOND, 'Enter')
      await terminal.until(/Understood 2\./)
      await terminal.until(/^(?![\s\S]*a document waits here)/)
      terminal.type('/exit', 'Enter')
      await terminal.close()

      const again = terminalOf(t, place, 120, ['--continue'])
      await again.until(/Understood 2\.[\s\S]*window/)
      again.type(THIRD, 'Enter')
      await again.until(/Understood 3\./)
      again.type('/compact', 'Enter')
      await again.until(/Compacted|compacted/)
      again.type(FOURTH, 'Enter')
      await again.until(/Understood 4\./)
      const turns = place.api.requests.filter((_request, index) => place.api.asked[index] === 'turn').map(textOf)
      const last = turns.at(-1) ?? ''
      for (const rule of RULES) ok(count(last, rule) > 0, `${rule} is in the next request`)
      match(last, /the word is wombat/)

      // A terminal that is closed says nothing, or its last word comes late: the session is over either way.
      await again.close()
      while ((await sessionsOf(store)).some(({ state }) => state === 'active')) await pause(200)
      const sessions = await sessionsOf(store)
      equal(new Set(sessions.map(({ conversationId }) => conversationId)).size, 1, 'all in one conversation')
      equal(Math.max(...sessions.map(({ epoch }) => epoch)), 3)
    },
  )
})
