import { deepEqual, match, ok } from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { describe, it } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { uses } from './claude-stage.ts'
import { answerQuestions, NEEDS_TMUX, terminalOf } from './claude-terminal.ts'
import { hooksStage } from './hooks-stage.ts'
import { PATIENT } from './patience.ts'

const COLUMNS = 120

describe('the status line in the real, interactive claude', PATIENT, () => {
  it('is drawn before the first call, after it, and with a notice', NEEDS_TMUX, async (t) => {
    const stage = await hooksStage(t, {
      turns: [{ text: 'The word is quokka.', usage: uses(10, 1_000, 121_000, 400) }],
    })
    const { service } = stage
    answerQuestions(stage)
    const terminal = terminalOf(t, stage, COLUMNS)
    await terminal.until(/^ *window \?/m)
    ok(!service.requests.some(({ event }) => event === 'statusline'), 'nothing is known yet, and nothing is posted')
    terminal.type('Say a word.', 'Enter')
    const answered = await terminal.until(/^ *window 73% /m)
    match(answered, /^ *window 73% ██████████│██│░░░│░░ · 122k of 167k before it compacts \(200k window\)/m)
    while (!service.requests.some(({ event }) => event === 'statusline')) await pause(50)
    const sample = service.requests.findLast(({ event }) => event === 'statusline')
    const { current_usage } = (sample?.payload.context_window ?? {}) as { readonly current_usage?: object }
    deepEqual(current_usage, uses(10, 1_000, 121_000, 400))
    const milestones = [0.5, 0.65, 0.85].map((at, index) => ({ name: ['warning', 'critical', 'restart'][index], at }))
    const notices = ['critical: /baton:handoff, then /clear']
    service.card(String(sample?.payload.session_id), { milestones, restarts: 1, notices })
    terminal.type('Once more.', 'Enter')
    const noticed = await terminal.until(/critical: /)
    match(noticed, /· 122k of 167k · .*1 restart · critical: \/baton:handoff, then \/clear/)
    if (process.env.CAPTURE !== undefined) writeFileSync(process.env.CAPTURE, noticed)
    for (const row of noticed.split('\n')) ok([...row].length <= COLUMNS)
  })
})
