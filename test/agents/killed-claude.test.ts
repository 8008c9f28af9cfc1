import { deepEqual, equal, ok } from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { createBatonpass, everyPage, type Turn } from '../../src/entry/index.ts'
import type { Message } from '../../src/entry/ports.ts'
import { bash, NEEDS_PROC, RUNTIMES, runningIn, stage, uses } from './claude-stage.ts'
import { PATIENT } from './patience.ts'

const TASK = 'Say the words quokka and numbat, one after the other.'
const RUNNER = fileURLToPath(new URL('killed-claude-runner.ts', import.meta.url))
const EMPTY = uses(12, 20_000, 0, 40)

/** A first tool that answers, one that works until it is ended, and, for whoever resumes, the end of the work. */
const TURNS = [
  { tool: bash('echo quokka'), usage: EMPTY },
  { tool: bash('while true; do echo old >> log; sleep 0.1; done'), usage: EMPTY },
  { text: 'Quokka, numbat.', usage: uses(9, 300, 20_000, 50) },
]

const linesOf = (path: string): number => (existsSync(path) ? readFileSync(path, 'utf8').split('\n').length : 0)

for (const [backend, make] of Object.entries(RUNTIMES)) {
  describe(`a killed runner of ${backend}, for real`, { ...PATIENT, ...NEEDS_PROC }, () => {
    it('leaves nothing at work, and what it had not recorded is read back once', async (t) => {
      const { api, home, runtime } = await stage(t, make, { turns: TURNS })
      const [dataDir, log] = [join(home, 'store'), join(home, 'log')]
      const args = ['--import', 'tsx', RUNNER, dataDir, home, api.url, backend, TASK]
      const runner = spawn(process.execPath, args, { stdio: ['ignore', 'inherit', 'inherit'] })
      t.after(() => runner.kill('SIGKILL'))
      while (linesOf(log) < 3) await pause(50)
      const ended = once(runner, 'exit')
      runner.kill('SIGKILL')
      await ended

      await using batonpass = await createBatonpass({ dataDir })
      const recovered = await batonpass.recover({ runtimes: [runtime], wait: true })
      deepEqual(
        recovered.map((one) => (one.type === 'resumed' ? one.summary.outcome : one.type)),
        ['completed'],
      )
      deepEqual(runningIn(home), [])
      const written = linesOf(log)
      await pause(500)
      equal(linesOf(log), written)

      const conversation = await batonpass.history.conversationByKey('killed')
      ok(conversation)
      const turns: Turn[] = []
      const messages: Message[] = []
      for await (const session of batonpass.history.eachSession({ conversationId: conversation.id }))
        for await (const turn of everyPage((page) => batonpass.history.turns(session.id, page))) turns.push(turn)
      for await (const message of everyPage((page) => batonpass.history.messages(conversation.id, page)))
        messages.push(message)
      const calls = turns.flatMap(({ toolCalls }) => toolCalls.map(({ callId }) => callId))
      deepEqual(calls.toSorted(), ['toolu_1', 'toolu_2'])
      equal(messages.filter(({ text }) => text === 'Quokka, numbat.').length, 1)
      const verdict = await batonpass.audit.verify(conversation.id)
      ok(verdict.ok && verdict.value.intact)
    })
  })
}
