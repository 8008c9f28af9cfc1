import assert from 'node:assert/strict'
import { type DataTable, Given, Then, When } from '@cucumber/cucumber'
import type { AuditEvent } from '../../src/domain/audit-event.ts'
import { citing } from '../support/scripted-agent.ts'
import type { HandoffWorld } from '../support/world.ts'

Given(
  '{agent} works in windows of {int} tokens:',
  function (this: HandoffWorld, agent: string, tokens: number, table: DataTable) {
    this.runs.agent(agent, tokens, table.rows())
  },
)

/** A window that is filled by two turns, and one that is not. Scenarios with other needs have a table. */
const FULL = '10 % read_file, 90 % edit_file'
const ROOMY = '10 % read_file, 15 %'

Given('{agent} works in two ordinary windows', function (this: HandoffWorld, agent: string) {
  this.runs.agent(agent, 1000, [
    [FULL, 'Half is done.'],
    [ROOMY, ''],
  ])
})

Given('{agent} works in two ordinary windows, and leaves no checkpoint', function (this: HandoffWorld, agent: string) {
  this.runs.agent(agent, 1000, [
    [FULL, ''],
    [ROOMY, ''],
  ])
})

Given('{agent} works in one ordinary window', function (this: HandoffWorld, agent: string) {
  this.runs.agent(agent, 1000, [[`${ROOMY}, 20 %`, '']])
})

Given("{agent} is a program of one's own:", function (this: HandoffWorld, agent: string, table: DataTable) {
  this.runs.program(agent, table.rows())
})

Given('it is restarted at {int} percent', function (this: HandoffWorld, percent: number) {
  this.runs.restartAt(percent)
})

Given('it does not let itself be interrupted', function (this: HandoffWorld) {
  this.runs.beStubborn()
})

Given(
  'each window costs {float} dollars and each checkpoint {float}',
  function (this: HandoffWorld, window: number, checkpoint: number) {
    this.runs.costs(window, checkpoint)
  },
)

Given('the conversation may be restarted {int} time(s)', function (this: HandoffWorld, maxRestarts: number) {
  this.runs.allow({ maxRestarts })
})

Given('the conversation may cost {float} dollars', function (this: HandoffWorld, maxCostUsd: number) {
  this.runs.allow({ maxCostUsd })
})

Given('once its budget is spent it carries on', function (this: HandoffWorld) {
  this.runs.allow({ whenExhausted: 'carry_on' })
})

Given(
  'its work is done in {string}, in the worktree {string} on the branch {string}',
  function (this: HandoffWorld, workingDirectory: string, worktreePath: string, branch: string) {
    this.runs.workIn({ workingDirectory, worktreePath, branch })
  },
)

Given('asked for its checkpoint, it answers:', function (this: HandoffWorld, text: string) {
  this.runs.inEachWindow({ checkpoint: citing(text) })
})

Given('asked for its checkpoint, it answers nothing', function (this: HandoffWorld) {
  this.runs.inEachWindow({ checkpoint: '<checkpoint> </checkpoint>' })
})

Given('asked for its checkpoint, it says nothing the first time', function (this: HandoffWorld) {
  this.runs.saysNothingFirst()
})

Given('its tools are used on {string}', function (this: HandoffWorld, argument: string) {
  this.runs.useToolsOn(argument)
})

Given('its tools are used in turn on {list}', function (this: HandoffWorld, args: string[]) {
  this.runs.useToolsInTurnOn(args)
})

Given(
  'it listens while it works: told to land, it continues with {string} and lands',
  function (this: HandoffWorld, turns: string) {
    this.runs.listens(turns)
  },
)

Given('it hears what it is told while it works, and takes no notice', function (this: HandoffWorld) {
  this.runs.listens()
})

Given('it is not to be told to land', function (this: HandoffWorld) {
  this.runs.switchLandingOff()
})

Given('asked for its checkpoint, it fails with {string}', function (this: HandoffWorld, problem: string) {
  this.runs.inEachWindow({ checkpoint: new Error(problem) })
})

Given('asked for its checkpoint, it takes too long', function (this: HandoffWorld) {
  this.runs.answersTooLate()
})

Given('asked for its checkpoint, it names the tools that have answered', function (this: HandoffWorld) {
  this.runs.namesAnsweredTools()
})

When('it is run on {string}', function (this: HandoffWorld, task: string) {
  return this.runs.run(task)
})

When('it is run again', function (this: HandoffWorld) {
  return this.runs.run()
})

When('it is run on {string}, up to its window {int}', function (this: HandoffWorld, task: string, window: number) {
  return this.runs.runUntil(task, window)
})

When('it is run on {string}, and somebody follows', function (this: HandoffWorld, task: string) {
  return this.runs.follow(task)
})

When('it works for longer than a process may be silent', function (this: HandoffWorld) {
  return this.runs.liveOn()
})

When(
  'it is run on {string}, and cancelled while it writes its checkpoint',
  function (this: HandoffWorld, task: string) {
    return this.runs.cancelRestart(task)
  },
)

When(
  'it is run on {string}, and its process is lost after {step}',
  function (this: HandoffWorld, task: string, last: AuditEvent['type']) {
    return this.runs.lose(task, last)
  },
)

When('it is run on {string}, and cancelled after its first turn', function (this: HandoffWorld, task: string) {
  return this.runs.callOffEarly(task)
})

When('another process runs the same conversation', function (this: HandoffWorld) {
  return this.runs.runBeside()
})

When('the orphaned work is recovered( again)', async function (this: HandoffWorld) {
  await this.remember()
  await this.runs.recover()
})

When('the orphaned work is recovered by a process that cannot run it', function (this: HandoffWorld) {
  return this.runs.recover({ canRun: false })
})

When('{int} processes recover the orphaned work at once', function (this: HandoffWorld, processes: number) {
  return this.runs.recover({ processes })
})

Then('that changed nothing', async function (this: HandoffWorld) {
  assert.deepEqual([await this.kept.everything()], this.remembered)
})

Then('its sessions are {list}', async function (this: HandoffWorld, states: string[]) {
  assert.deepEqual(
    (await this.kept.sessions()).map(({ state }) => state.replace('_', ' ')),
    states,
  )
})

Then('session {int} was told once to bring its work to an end', async function (this: HandoffWorld, number: number) {
  const told = await this.kept.saidIn(number, 'system')
  assert.equal(told.length, 1)
  assert.match(told[0] ?? '', /Bring the unit of work at hand to an end/)
})

Then('session {int} was never told to bring its work to an end', async function (this: HandoffWorld, number: number) {
  assert.deepEqual(await this.kept.saidIn(number, 'system'), [])
})

Then('session {int} was asked {string}', async function (this: HandoffWorld, number: number, words: string) {
  const asked = await this.kept.saidIn(number, 'user')
  assert.ok(asked.at(-1)?.startsWith(words), asked.join('\n'))
})

Then(
  'they see what session {int} says, then that it was handed to session {int}, then what that one says',
  async function (this: HandoffWorld, source: number, target: number) {
    const [old, next] = [await this.kept.sessionNumber(source), await this.kept.sessionNumber(target)]
    const seen = this.runs.followed.flatMap((item) => {
      if (item.type === 'message') return [item.sessionId]
      return item.type === 'context:handoff:complete' ? [`${item.oldSessionId} to ${item.newSessionId}`] : []
    })
    const steps = seen.filter((step, index) => step !== seen[index - 1])
    assert.deepEqual(steps, [old.id, `${old.id} to ${next.id}`, next.id])
  },
)

Then('session {int} is at work', async function (this: HandoffWorld, number: number) {
  assert.equal((await this.kept.activeSession())?.epoch, number)
})

Then('session {int} has {int} turn(s)', async function (this: HandoffWorld, number: number, turns: number) {
  assert.equal((await this.kept.turnsIn(number)).length, turns)
})

Then('session {int} ended because {string}', async function (this: HandoffWorld, number: number, reason: string) {
  const session = await this.kept.sessionNumber(number)
  assert.equal(session.state === 'failed' && session.endReason, reason)
})

Then('session {int} begins with {string}', async function (this: HandoffWorld, number: number, words: string) {
  const [first] = (await this.kept.opening(number)).split('\n')
  assert.equal(first, words)
})

Then('session {int} is told {string}', async function (this: HandoffWorld, number: number, words: string) {
  const opening = await this.kept.opening(number)
  assert.ok(opening.includes(words), opening)
})

Then('session {int} is not told {string}', async function (this: HandoffWorld, number: number, words: string) {
  const opening = await this.kept.opening(number)
  assert.ok(!opening.includes(words), opening)
})

Then(
  'the agent of session {int} was launched with what is stored for it',
  async function (this: HandoffWorld, number: number) {
    const [opening, said] = [await this.kept.opening(number), await this.kept.saidIn(number, 'assistant')]
    assert.ok(said[0]?.endsWith(`I was told: ${opening}`), said[0])
  },
)

Then(
  'session {int} has {int} answer(s) and {int} tool result(s) on record',
  async function (this: HandoffWorld, number: number, answers: number, results: number) {
    const said = [await this.kept.saidIn(number, 'assistant'), await this.kept.saidIn(number, 'tool')]
    assert.deepEqual(
      said.map(({ length }) => length),
      [answers, results],
    )
  },
)

Then('the agent of session {int} says {string}', async function (this: HandoffWorld, number: number, words: string) {
  const said = await this.kept.saidIn(number, 'assistant')
  assert.ok(said.length > 0 && said.every((text) => text.startsWith(words)), said.join('\n'))
})

Given(
  'its work is done in {string} on the branch {string}, which began at {string}',
  function (this: HandoffWorld, workingDirectory: string, branch: string, baseBranch: string) {
    this.runs.workIn({ workingDirectory, branch, baseBranch })
  },
)

Then(
  'the conversation works on the branch {string}, which began at {string}',
  async function (this: HandoffWorld, branch: string, baseBranch: string) {
    const { workspace } = await this.kept.conversation()
    assert.deepEqual([workspace?.branch, workspace?.baseBranch], [branch, baseBranch])
  },
)

Then(
  'the conversation works in {string}, in the worktree {string} on the branch {string}',
  async function (this: HandoffWorld, workingDirectory: string, worktreePath: string, branch: string) {
    assert.deepEqual((await this.kept.conversation()).workspace, { workingDirectory, worktreePath, branch })
  },
)
