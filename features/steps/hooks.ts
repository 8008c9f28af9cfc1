import assert from 'node:assert/strict'
import { type DataTable, Given, Then } from '@cucumber/cucumber'
import type { HookMoment } from '../../src/domain/hooks/hook-settings.ts'
import {
  continuingWhenTold,
  failing,
  hookAt,
  inWords,
  sayingWhatCameBefore,
  sayingWhere,
} from '../support/hooks-of-runs.ts'
import type { HandoffWorld } from '../support/world.ts'

Given('a hook {moment} that answers {string}', function (this: HandoffWorld, moment: HookMoment, answer: string) {
  this.runs.call(hookAt(moment, () => answer))
})

Given('a hook {moment} that says nothing', function (this: HandoffWorld, moment: HookMoment) {
  this.runs.call(hookAt(moment, () => ''))
})

Given('a hook {moment} that fails', function (this: HandoffWorld, moment: HookMoment) {
  this.runs.call(hookAt(moment, failing))
})

Given('a hook {moment} that fails and must not', function (this: HandoffWorld, moment: HookMoment) {
  this.runs.call(hookAt(moment, failing, false))
})

Given('a hook {moment} that says where the work is done', function (this: HandoffWorld, moment: HookMoment) {
  this.runs.call(hookAt(moment, sayingWhere))
})

Given(
  'a hook {moment} that answers "continue" once it is told of {string}, of {string} and of a window of which {float} is used and {float} remains',
  function (
    this: HandoffWorld,
    moment: HookMoment,
    repository: string,
    worktree: string,
    used: number,
    remaining: number,
  ) {
    this.runs.call(hookAt(moment, continuingWhenTold([repository, worktree], [used, remaining])))
  },
)

Given('a hook {moment} that says what came before', function (this: HandoffWorld, moment: HookMoment) {
  this.runs.call(hookAt(moment, sayingWhatCameBefore))
})

Then('these hooks are in the record:', async function (this: HandoffWorld, table: DataTable) {
  const [sessions, record] = [await this.kept.sessions(), await this.kept.record()]
  const deliveries = record.flatMap(({ event }) => (event.type === 'hook.delivered' ? [event] : []))
  const shown = deliveries.map(({ moment, sessionId, ok }) => {
    const about = sessions.find(({ id }) => id === sessionId)?.epoch
    return [inWords(moment), `${about ?? 'none'}`, ok ? 'answered' : 'failed']
  })
  assert.deepEqual(shown, table.rows())
})

/** The output of hooks at the beginning of an opening, as far as it stands in its fence. */
const hookOutputIn = (opening: string): string | undefined =>
  /^Before this session began, hooks [^\n]+ hold (hooks-[0-9a-f-]+), [^\n]+\n\n<\1>\n([\s\S]*?)\n<\/\1>\n/.exec(
    opening,
  )?.[2]

Then(
  'session {int} begins with the output of hooks, set apart: {string}',
  async function (this: HandoffWorld, number: number, words: string) {
    assert.equal(hookOutputIn(await this.kept.opening(number)), words)
  },
)

Then(
  'session {int} begins as restart {int}, after session {int}',
  async function (this: HandoffWorld, number: number, restarts: number, previous: number) {
    const [opening, before] = [await this.kept.opening(number), await this.kept.sessionNumber(previous)]
    assert.equal(hookOutputIn(opening), `Restart ${restarts}, after session ${before.id}.`)
  },
)
