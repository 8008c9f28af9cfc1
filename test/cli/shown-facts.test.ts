import { describe, expect, it } from 'vitest'
import { createBatonpass } from '../../src/entry/index.ts'
import { ScriptedRuntime } from '../../src/entry/testing.ts'
import { database } from './spawned.ts'
import { batonOn } from './terminal.ts'

const CHECKPOINT = [
  '<checkpoint>',
  '## Goal',
  '- Mend the test.',
  '## Completed work',
  '- The cause is found. [call: scripted-1 1 1]',
  '- It was run twice. [call: toolu_made_up]',
  '</checkpoint>',
].join('\n')

const restarted = async (checkpoint: string | Error) => {
  const url = await database()
  await using batonpass = await createBatonpass({ database: url })
  const totals = { inputTokens: 1_900, outputTokens: 120, requests: 2, costUsd: 0.25 }
  const runtime = new ScriptedRuntime({
    windowTokens: 1_000,
    takesSessionId: false,
    windows: [
      {
        turns: [{ text: 'Half.', promptTokens: 900, tools: ['edit'] }],
        checkpoint,
        checkpointTotals: { inputTokens: 950, outputTokens: 80, costUsd: 0.0123 },
      },
      { turns: [{ text: 'All.', promptTokens: 100 }], totals },
    ],
  })
  const work = { runtime, agent: 'claude-code', prompt: 'Fix it', policy: 'auto' as const, conversation: 'k' }
  await batonpass.run(work).finish()
  return batonOn(url)
}

describe('what a restart leaves in the record', () => {
  it('is shown with the handoff: outcome, sections, statements and cost', async () => {
    const baton = await restarted(CHECKPOINT)
    const { out } = await baton('handoffs', 'show', '--key', 'k')
    expect(out).toMatch(/^checkpoint +kept$/m)
    expect(out).toMatch(/^length +\d+ characters$/m)
    expect(out).toMatch(/^sections +\S.*$/m)
    expect(out).toMatch(/^statements +\d+ cited, \d+ uncited, \d+ miscited$/m)
    expect(out).toMatch(/^checkpoint used +950 tokens in, 80 out, \$0\.0123$/m)
    expect(out).not.toMatch(/^flags/m)
  })

  it('is shown with the session: its name at the provider, and what it used in sum', async () => {
    const baton = await restarted(CHECKPOINT)
    const { out } = await baton('sessions', 'show', '--key', 'k')
    expect(out).toMatch(/^provider session +scripted-2$/m)
    expect(out).toMatch(/^used in sum +1900 tokens in, 120 out, 2 requests, \$0\.2500$/m)
  })

  it('says why there is no checkpoint', async () => {
    const baton = await restarted(new Error('Prompt is too long'))
    const { out } = await baton('handoffs', 'show', '--key', 'k')
    expect(out).toMatch(/^flags +minimal_continuation, checkpoint_failed, recap_from_record$/m)
    expect(out).toMatch(/^checkpoint +failed: Prompt is too long$/m)
  })
})

describe('a conversation with a second prompt', () => {
  it('is shown with the task of now, and with what was asked first', async () => {
    const url = await database()
    await using batonpass = await createBatonpass({ database: url })
    const turns = [{ text: 'Done.', promptTokens: 10 }]
    for (const prompt of ['Fix it', 'Now write the docs']) {
      const runtime = new ScriptedRuntime({ windows: [{ turns }] })
      await batonpass.run({ runtime, agent: 'claude-code', conversation: 'k', prompt, sessionMode: 'fresh' }).finish()
      const { out } = await batonOn(url)('conversations', 'show', '--key', 'k')
      expect(out).toContain(`Task:\n  ${prompt}`)
      expect(out.includes('Asked first:\n  Fix it')).toBe(prompt !== 'Fix it')
    }
    expect((await batonOn(url)('audit', 'verify', '--all')).out).toMatch(/^1 conversation, \d+ entries: all intact$/m)
  })
})
