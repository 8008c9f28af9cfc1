import { beforeEach, describe, expect, it } from 'vitest'
import { systemClock } from '../../src/entry/container.ts'
import { type Batonpass, createBatonpass, RuntimeFailure } from '../../src/entry/index.ts'
import { MemoryStore } from '../../src/entry/memory.ts'
import type { Store } from '../../src/entry/ports.ts'
import type { ScriptedTurn, ScriptedWindow } from '../../src/entry/testing.ts'
import { ENDS, FILLS, play, recorded, script, turn } from './played.ts'

const SECRET = 'hunter2'
const KEPT = '<checkpoint>\n## Goal\nGreen tests\n</checkpoint>'
const WORDLESS = new RuntimeFailure('runtime.no_words', 'The session wanted to use a tool, not to answer.')

let store: Store
let batonpass: Batonpass
beforeEach(async () => {
  store = new MemoryStore({ clock: systemClock })
  batonpass = await createBatonpass({ store, redact: (text) => text.replaceAll(SECRET, '***') })
})

const used = (promptTokens: number, argument: string, result: string, name = 'Bash'): ScriptedTurn => ({
  text: `At ${promptTokens}.`,
  promptTokens,
  tools: [{ name, argument, result }],
})

const WORKED = [used(100, 'npm test', '2 failed'), used(900, 'src/clock.ts', `done with ${SECRET}`, 'Edit')]

/** Answers in this order when it is asked, one after the other; an error is thrown. */
const answering = (...answers: readonly (string | Error)[]): Pick<ScriptedWindow, 'checkpoint'> => {
  const left = [...answers]
  return {
    checkpoint: () => {
      const next = left.shift() ?? ''
      if (next instanceof Error) throw next
      return next
    },
  }
}

const first = async (...windows: readonly ScriptedWindow[]) => {
  const runtime = script([...windows, { turns: ENDS }])
  const { summary } = await play(batonpass, runtime)
  const { handoffs } = await recorded(batonpass, summary)
  return { runtime, summary, handoffs, opening: runtime.launches.at(-1)?.prompt ?? '' }
}

describe('a lost checkpoint', () => {
  it('is made up for by what is on record: tools, files, words and results, flagged, fenced and redacted', async () => {
    const { handoffs, opening } = await first({ turns: WORKED, checkpoint: new Error('prompt is too long') })
    expect(handoffs[0]).toMatchObject({
      flags: ['minimal_continuation', 'checkpoint_failed', 'recap_from_record'],
      checkpoint: { outcome: 'failed', reason: 'prompt is too long' },
    })
    const [, fence, inside] = /<(recap-[0-9a-z-]{16,})>\n(.*)\n<\/\1>$/s.exec(opening) ?? []
    expect(fence).toBeDefined()
    expect(inside).toContain('- Bash: npm test [call:')
    expect(inside).toContain('## Files touched\n- src/clock.ts')
    expect(inside).toContain('- At 900.')
    expect(inside).toContain('- 2 failed\n- done with ***')
    expect(opening).toMatch(/^Fix the flaky test\n\n.*left no checkpoint.*put together without a model/s)
    expect(opening).not.toContain(SECRET)
    // What the successor was launched with is what is stored for it.
    const session = (await store.sessions.listForConversation(handoffs[0]?.conversationId as never, {})).items[1]
    expect((await store.messages.findOpening(session?.id as never))?.text).toBe(opening)
  })

  it('says once what the person asked: as the task and in their words, and not in the recap again', async () => {
    const about = { agent: 'claude', conversation: 'two-prompts', policy: 'auto' } as const
    const runtime = script([{ turns: [turn(100, 'a'), ...FILLS], checkpoint: new Error('Lost') }, { turns: ENDS }])
    for await (const _ of batonpass.run({ ...about, runtime, prompt: 'Fix it' })) break
    await batonpass.run({ ...about, runtime, prompt: 'Use pnpm, not npm' }).finish()
    const opening = runtime.launches.at(-1)?.prompt ?? ''
    expect(opening).toMatch(/^Use pnpm, not npm\n.*<words-.*Fix it.*<recap-/s)
    expect(opening.match(/Use pnpm/g)).toHaveLength(1)
    expect(opening.match(/Fix it/g)).toHaveLength(1)
  })

  it('does not say that anybody asked what Batonpass told the agent', async () => {
    const about = { agent: 'claude', conversation: 'stopped', policy: 'auto', prompt: 'Fix it' } as const
    const runtime = script([{ turns: [turn(100, 'a'), ...FILLS], checkpoint: new Error('Lost') }, { turns: ENDS }])
    for await (const _ of batonpass.run({ ...about, runtime })) break
    await batonpass.run({ ...about, runtime }).finish()
    expect(runtime.launches[1]?.prompt).toContain('Continue where you stopped')
    const opening = runtime.launches.at(-1)?.prompt ?? ''
    expect(opening).toContain('<recap-')
    expect(opening).not.toContain('Continue where you stopped')
  })

  it('after one that was kept comes with the earlier one and a recap of the work since', async () => {
    const { opening } = await first(
      { turns: FILLS, checkpoint: KEPT },
      { turns: WORKED, checkpoint: new Error('Lost') },
    )
    expect(opening).toMatch(/Green tests\s+<\/checkpoint-.*Work went on after that checkpoint.*<recap-.*npm test/s)
  })

  it('twice in a row leaves neither window out', async () => {
    const { opening } = await first(
      { turns: [used(100, 'echo one', 'ok'), turn(900, 'x')], checkpoint: new Error('Lost') },
      { turns: [used(100, 'echo two', 'ok'), turn(900, 'x')], checkpoint: new Error('Lost') },
    )
    expect(opening).toMatch(/# Window 1\n.*echo one.*# Window 2\n.*echo two/s)
  })
})

describe('a reply without words', () => {
  it.each([
    ['empty', ''],
    ['of empty tags', '<checkpoint> </checkpoint>'],
    ['of a tool call', WORDLESS],
  ])('%s is asked for a second time', async (_, reply) => {
    const { runtime, handoffs } = await first({ turns: FILLS, ...answering(reply, KEPT) })
    expect(handoffs[0]).toMatchObject({ flags: [], checkpoint: { outcome: 'kept', attempts: 2, sections: ['Goal'] } })
    const [one, two] = runtime.questions.map(({ prompt }) => prompt)
    expect(two).toMatch(/^You were asked this before, and answered without a word/)
    expect(two?.endsWith(one ?? '-')).toBe(true)
    expect(runtime.questions[0]?.signal).toBe(runtime.questions[1]?.signal)
  })

  it.each([
    ['', 'checkpoint_missing', { outcome: 'missing', attempts: 2 }],
    [WORDLESS, 'checkpoint_failed', { outcome: 'failed', attempts: 2, reason: WORDLESS.message }],
  ])('is not asked for a third time (%s)', async (reply, flag, checkpoint) => {
    const { runtime, handoffs } = await first({ turns: FILLS, ...answering(reply, reply, KEPT) })
    expect(runtime.questions).toHaveLength(2)
    expect(handoffs[0]).toMatchObject({ flags: ['minimal_continuation', flag, 'recap_from_record'], checkpoint })
  })

  it('that was an error is not asked for again', async () => {
    const { runtime, handoffs } = await first({ turns: FILLS, ...answering(new Error('prompt is too long'), KEPT) })
    expect(runtime.questions).toHaveLength(1)
    expect(handoffs[0]?.checkpoint).not.toHaveProperty('attempts')
  })

  it('is paid for twice', async () => {
    const checkpointTotals = { inputTokens: 1_000, outputTokens: 10, costUsd: 0.25 }
    const { summary, handoffs } = await first({ turns: FILLS, ...answering('', KEPT), checkpointTotals })
    expect(handoffs[0]?.checkpoint?.totals).toMatchObject({ inputTokens: 2_000, outputTokens: 20, costUsd: 0.5 })
    expect(summary.totals.costUsd).toBe(0.5)
  })

  it('is not asked for again where the money is gone', async () => {
    const totals = { inputTokens: 1_000, outputTokens: 10, costUsd: 0.25 }
    const window = { turns: FILLS, ...answering('', KEPT), totals: { ...totals, costUsd: 0 }, checkpointTotals: totals }
    const runtime = script([window, { turns: ENDS }])
    const budget = { maxCostUsd: 0.2, maxRestarts: 3, whenExhausted: 'stop' } as const
    const { summary } = await play(batonpass, runtime, { budget })
    expect(runtime.questions).toHaveLength(1)
    expect(summary).toMatchObject({ outcome: 'exhausted', limit: 'cost' })
  })

  it('is not asked for again when the time for it is over', async () => {
    const runtime = script([{ turns: FILLS, ...answering('', KEPT) }, { turns: ENDS }])
    const ask = runtime.ask.bind(runtime)
    // It answers when its time is over, whatever its signal says.
    runtime.ask = async (question) => {
      const reply = await ask(question)
      await new Promise((resolve) => question.signal.addEventListener('abort', resolve, { once: true }))
      return reply
    }
    const { summary } = await play(batonpass, runtime, { checkpointTimeoutMs: 20 })
    expect(runtime.questions).toHaveLength(1)
    expect((await recorded(batonpass, summary)).handoffs[0]?.flags).toContain('checkpoint_timed_out')
  })
})

describe('a reply that may be no checkpoint', () => {
  const ADVICE = 'inspect the work so far before you rely on it'

  it('without tags and without one of the sections is flagged, and passed on with the advice to inspect', async () => {
    const { handoffs, opening } = await first({ turns: FILLS, checkpoint: 'Sorry, I cannot do that.' })
    expect(handoffs[0]).toMatchObject({ flags: ['checkpoint_unstructured'], document: 'Sorry, I cannot do that.' })
    expect(opening).toContain('Sorry, I cannot do that.')
    expect(opening).toContain(ADVICE)
  })

  it.each([
    ['tags', '<checkpoint>Half is done.</checkpoint>'],
    ['a section', '## Goal\nGreen tests'],
  ])('is none when it has %s', async (_, checkpoint) => {
    const { handoffs, opening } = await first({ turns: FILLS, checkpoint })
    expect(handoffs[0]?.flags).toEqual([])
    expect(opening).not.toContain(ADVICE)
  })

  it("is none either when a template of one's own asks for no tags", async () => {
    const runtime = script([{ turns: FILLS, checkpoint: 'Half is done.' }, { turns: ENDS }])
    const { summary } = await play(batonpass, runtime, { template: 'Where are you?' })
    expect((await recorded(batonpass, summary)).handoffs[0]?.flags).toEqual([])
  })
})

describe('the calls that a checkpoint may cite', () => {
  it('are listed with what tells them apart, and with those that earlier checkpoints cited', async () => {
    const cites = (prompt: string) => {
      const callId = /^- (\S+) Bash: npm test$/m.exec(prompt)?.[1]
      return `<checkpoint>\n## Completed work\n- Tested it [call:${callId}]\n</checkpoint>`
    }
    const { runtime, handoffs } = await first(
      { turns: [used(100, 'npm test', 'ok'), used(900, 'npm run lint', 'ok')], checkpoint: cites },
      { turns: [used(100, 'git status', 'ok'), used(900, 'git diff', 'ok')], checkpoint: cites },
    )
    const [one = '', two = ''] = runtime.questions.map(({ prompt }) => prompt)
    expect(one).toMatch(/^- \S+ Bash: npm test\n- \S+ Bash: npm run lint$/m)
    expect(two).toMatch(/^- \S+ Bash: npm test\n- \S+ Bash: git status\n- \S+ Bash: git diff$/m)
    expect(handoffs.map(({ checkpoint }) => checkpoint?.statements?.cited)).toEqual([1, 1])
  })
})
