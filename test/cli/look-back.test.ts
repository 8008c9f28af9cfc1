import { beforeAll, describe, expect, it } from 'vitest'
import type { LookBackAnswer } from '../../src/domain/history/look-back.ts'
import { createBatonpass, unwrap } from '../../src/entry/index.ts'
import { batonOn, historyInDatabase, NASTY, type Said } from './terminal.ts'

let there: Awaited<ReturnType<typeof historyInDatabase>>
let baton: (...args: readonly string[]) => Promise<Said>

beforeAll(async () => {
  there = await historyInDatabase()
  baton = batonOn(there.database)
})

describe('baton look-back', () => {
  it('shows a person a call, a turn, a file and words, and puts nothing on record', async () => {
    const byCall = await baton('look-back', '--key', 'issue-7', '--call', '[call:call_1]')
    expect(byCall.code).toBe(0)
    expect(byCall.out).toContain('Window 1, turn 1: the agent\n  called run_tests [call:call_1]\n| It compares dates.')
    expect(byCall.out).toContain('No result of this call is on record.')
    const byTurn = await baton('look-back', there.conversation.id, '--turn', '1.1')
    expect(byTurn.out).toContain('Window 1, turn 1: a person\n| Go on')
    const byWords = await baton('look-back', there.source.session.id, '--words', 'MENDED', '--json')
    const { found } = JSON.parse(byWords.out) as LookBackAnswer
    expect(found.map(({ epoch, passage }) => [epoch, passage.text])).toEqual([[2, 'Mended.']])
    expect((await baton('look-back', '--key', 'issue-7', '--file', 'nowhere.ts')).out).toBe(
      'Nothing on record matches.\n\nNothing more is on record for this question.',
    )
    expect((await baton('look-back', '--key', 'issue-7', '--asked')).out).toBe('No questions match.')
  })

  it('keeps to the width of the terminal, and lets no recorded text move the cursor', async () => {
    const { database, thread } = there
    {
      await using batonpass = await createBatonpass({ database })
      const messages = [{ role: 'user' as const, text: `${NASTY} ${'word '.repeat(40)}` }]
      unwrap(await batonpass.handoffs.recordTurn({ ...thread, messages }))
    }
    const { out } = await batonOn(database, 60)('look-back', thread.session.conversationId, '--words', 'alert')
    expect(out).toContain('\\u{1b}')
    expect(Math.max(...out.split('\n').map(({ length }) => length))).toBeLessThanOrEqual(60)
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not be there
    expect(out).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]/)
  })

  it.each<readonly [string, readonly string[]]>([
    ['no question', []],
    ['two questions', ['--call', 'x', '--words', 'y']],
    ['no turn', ['--turn', '14']],
    ['too little room', ['--words', 'x', '--limit', '5']],
  ])('takes %s for a mistake', async (_, flags) => {
    expect((await baton('look-back', '--key', 'issue-7', ...flags)).code).toBe(2)
  })

  it('lists what sessions asked, and handoffs and lineage say how often', async () => {
    const { database, target, first, conversation } = there
    {
      await using batonpass = await createBatonpass({ database })
      const session = target.session.id
      unwrap(await batonpass.lookBack.ask({ session, question: { by: 'call', callId: 'call_1' } }))
      unwrap(await batonpass.lookBack.ask({ session, question: { by: 'words', words: 'the \u001b[2Jclock' } }))
    }
    const { out } = await baton('look-back', '--key', 'issue-7', '--asked')
    expect(out).toMatch(new RegExp(`2 +call +1 +${first.id} +call_1$`, 'm'))
    expect(out).toMatch(new RegExp(`2 +words +0 +${first.id} +the \\\\u\\{1b\\}\\[2Jclock$`, 'm'))
    expect((await baton('handoffs', 'show', first.id)).out).toMatch(/^looked back {3}2 times, by its successor$/m)
    expect((await baton('lineage', '--key', 'issue-7')).out).toMatch(/looked back 2 times$/m)
    expect((await baton('audit', 'trail', conversation.id)).out).toMatch(/of opus-agent looked back by call: 1 found$/m)
    expect((await baton('audit', 'verify', conversation.id)).code).toBe(0)
  })
})
