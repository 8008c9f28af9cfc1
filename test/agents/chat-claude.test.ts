import { deepEqual, equal, ok } from 'node:assert/strict'
import { describe, it } from 'node:test'
import {
  type AgentSession,
  createBatonpass,
  everyPage,
  type MessageInHistory,
  type RunEvent,
} from '../../src/entry/index.ts'
import { bash, RUNTIMES, stage, uses } from './claude-stage.ts'
import type { Body } from './messages-api.ts'
import { never, PATIENT } from './patience.ts'

const CORRECTION = 'No: “tabs”, never spaces — I said so before; $& {checkpoint} stays as it is.'
const PROMPTS = [
  'Write a parser for quokka files.',
  'Add error messages to it.',
  `The indentation is wrong. ${CORRECTION}`,
  'Now write the docs.',
  'Publish version 2 of it.',
] as const

const ROOMY = uses(12, 20_000, 0, 40)
// Full by the smallest window it may be believed to have, whether or not the command has told its own by then.
const FULL = uses(10, 1_000, 170_000, 60)
const answer = (text: string) => ({ text, usage: ROOMY })
const fills = [
  { tool: bash('echo working'), usage: FULL },
  { text: 'This should not be needed.', usage: FULL, after: never },
]

/** The second prompt fills the first window, and the fifth the second one. */
const windows = [
  [answer('The parser is there.'), ...fills],
  [answer('Errors are told.'), answer('Tabs it is.'), answer('Documented.'), ...fills],
  [answer('Published.')],
]

const question = {
  prompt: 'Reply with the checkpoint alone',
  text: '<checkpoint>\n## Goal\nA parser.\n</checkpoint>',
  usage: FULL,
}

/** All that the person and we have said in a request, as the API got it. */
const wordsIn = (body: Body | undefined): string => JSON.stringify(body?.messages)

/** As a text stands in that. */
const quoted = (text: string): string => JSON.stringify(text).slice(1, -1)

const sessionOf = (body: Body): string => body.metadata?.user_id ?? ''

for (const [backend, make] of Object.entries(RUNTIMES)) {
  describe(`a chat with ${backend}, for real`, PATIENT, () => {
    it('goes through three windows, and the third is told every prompt and the correction word for word', async (t) => {
      const { api, home, runtime } = await stage(t, make, { windows, question })
      const batonpass = await createBatonpass({ store: 'memory' })
      t.after(() => batonpass.close())
      const followed: RunEvent[] = []
      let conversationId: AgentSession['conversationId'] | undefined
      for (const prompt of PROMPTS) {
        const about = { agent: 'claude', policy: 'auto', workspace: { workingDirectory: home } } as const
        const run = batonpass.run({ runtime, conversation: 'slack-C1-17', prompt, ...about })
        run.on((event) => {
          if (event.type === 'conversation:follow_up') followed.push(event)
        })
        const summary = await run.finish()
        equal(summary.outcome, 'completed', summary.reason)
        conversationId = summary.conversationId
      }
      ok(conversationId)
      const sessions: AgentSession[] = []
      for await (const session of everyPage((page) => batonpass.history.sessions(conversationId as never, page)))
        sessions.push(session)
      deepEqual(
        sessions.map(({ state }) => state),
        ['completed', 'handed_off', 'completed', 'completed', 'completed', 'handed_off', 'completed'],
      )
      deepEqual(
        followed.map((event) => event.type === 'conversation:follow_up' && event.freshBecause),
        [null, null, null, null],
      )
      // Each window is one session of the runtime: prompts that follow go into the one that is there.
      const turns = api.requests.filter((_, index) => api.asked[index] === 'turn')
      const [, , third] = [...new Set(turns.map(sessionOf))]
      const first = turns.find((body) => sessionOf(body) === third)
      for (const prompt of [...PROMPTS, CORRECTION]) ok(wordsIn(first).includes(quoted(prompt)), prompt)
      const places = PROMPTS.slice(0, 4).map((prompt) => wordsIn(first).indexOf(quoted(prompt)))
      deepEqual(
        places,
        places.toSorted((a, b) => a - b),
      )
      // On record, the person has said each of them once.
      const said: MessageInHistory[] = []
      for await (const message of everyPage((page) => batonpass.history.messages(conversationId as never, page)))
        if (message.origin === 'person') said.push(message)
      deepEqual(
        said.map(({ text }) => text),
        PROMPTS,
      )
      const verdict = await batonpass.audit.verify(conversationId)
      ok(verdict.ok && verdict.value.intact)
    })
  })
}
