import { deepEqual, equal, match, ok } from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { HookPost } from '../../src/ports/terminal/wire.ts'
import { textOf } from './claude-runs.ts'
import { bash, uses } from './claude-stage.ts'
import { askClaude, hooksStage } from './hooks-stage.ts'
import { PATIENT } from './patience.ts'

const SMALL = uses(10, 1_000, 20_000, 60)
/** Over the point where the command compacts a window of 150,000. */
const LARGE = uses(10, 1_000, 121_000, 60)
const id = (number: number): string => `0190a0a0-0000-7000-8000-00000000000${number}`
const WARNING = { id: id(1), text: 'Your window is 61% full: the word is wombat.', for: 'agent' } as const
const URGENT = { id: id(2), text: 'Finish what you do: the word is numbat.', for: 'agent' } as const
const DOCUMENT = 'An earlier session left this: the word is quokka.'

const detailsOf = ({ event, payload }: HookPost): string =>
  [event, payload.source ?? payload.trigger ?? payload.reason].filter((word) => word !== undefined).join(' ')

describe('the real claude with our hooks', PATIENT, () => {
  it('tells the service everything, and the agent what the service answers', async (t) => {
    const turns = [
      { tool: bash('echo one'), usage: SMALL },
      { tool: bash('echo two'), usage: LARGE },
      { text: 'Done.', usage: SMALL },
    ]
    const summary = { text: '<summary>Said one and two.</summary>', usage: SMALL }
    const stage = await hooksStage(t, { turns, summary })
    const { service, api } = stage
    service.answer = ({ event, payload }) => {
      if (event === 'session-start' && payload.source === 'compact') return { inject: DOCUMENT }
      if (event === 'user-prompt-submit') return { signals: [WARNING] }
      return event === 'post-tool-use' ? { signals: [URGENT] } : {}
    }
    const ended = await askClaude(stage, 'Say a word.', { CLAUDE_CODE_AUTO_COMPACT_WINDOW: '150000' })
    equal(ended.code, 0, ended.err)
    service.takeSpool()
    const told = [...service.taken.values()]
    const heard = told.filter(({ event }) => event !== 'ack' && event !== 'post-tool-use').map(detailsOf)
    deepEqual(heard.slice(0, 2), ['session-start startup', 'user-prompt-submit'])
    ok(heard.indexOf('pre-compact auto') > 1, heard.join(', '))
    ok(heard.indexOf('session-start compact') > heard.indexOf('pre-compact auto'), heard.join(', '))
    ok(heard.includes('post-compact auto'), heard.join(', '))
    ok(heard.indexOf('stop') > heard.indexOf('session-start compact'), heard.join(', '))
    match(heard.at(-1) ?? '', /^session-end /)
    equal(new Set(told.map(({ payload }) => payload.session_id)).size, 1)

    const asked = api.requests.filter((_, index) => api.asked[index] === 'turn').map(textOf)
    match(asked[0] ?? '', /the word is wombat/)
    match(asked[1] ?? '', /the word is numbat/)
    ok(
      asked.some((text) => /the word is quokka/.test(text)),
      'the document came after the compaction',
    )
    ok(!asked.slice(0, 2).some((text) => /the word is quokka/.test(text)))
    const acknowledged = told.filter(({ event }) => event === 'ack').flatMap(({ payload }) => payload.signals)
    ok(acknowledged.includes(WARNING.id) && acknowledged.includes(URGENT.id))
    equal(service.refused, 0)
  })

  it('works as ever while no service runs, and what it said waits', async (t) => {
    const stage = await hooksStage(t, { turns: [{ text: 'Done.', usage: SMALL }] })
    await stage.service[Symbol.asyncDispose]()
    const ended = await askClaude(stage, 'Say a word.')
    equal(ended.code, 0, ended.err)
    stage.service.takeSpool()
    const heard = [...stage.service.taken.values()].map(detailsOf)
    deepEqual(heard.slice(0, 3), ['session-start startup', 'user-prompt-submit', 'stop'])
    match(heard[3] ?? '', /^session-end /)
  })
})
