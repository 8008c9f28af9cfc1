import { describe, expect, it } from 'vitest'
import { unwrap } from '../../src/domain/unwrap.ts'
import { everyPage } from '../../src/ports/store/page.ts'
import { Stage } from './stage.ts'

const OWN = { clues: { environment: { CLAUDE_CODE_SESSION_ID: 'p-1' } } }

/** A conversation in its second window; the first one called a tool. */
const inSecondWindow = async () => {
  const stage = await Stage.open(OWN)
  const working = await stage.session('p-1')
  unwrap(
    await stage.batonpass.handoffs.recordTurn({
      ...working,
      messages: [
        { role: 'user', text: 'Where is the quokka?' },
        {
          role: 'assistant',
          text: 'I look.',
          toolCalls: [{ callId: 'toolu_01', toolName: 'Bash', argument: 'cat src/quokka.ts' }],
        },
        { role: 'tool', text: 'export const quokka = "on the island"', providerMessageId: 'toolu_01' },
      ],
    }),
  )
  const { next } = await stage.handedOff(working, 'The wombat sleeps [call:toolu_01].', 'p-1')
  return { stage, next }
}

describe('looking back', () => {
  it('finds a cited call of an earlier window with its result, and puts the question on record', async () => {
    const { stage, next } = await inSecondWindow()
    const { text, isError } = await stage.call('look_back', { call: '[call:toolu_01]' })
    expect(isError, text).toBe(false)
    expect(text).toContain('on the island')
    const { history } = stage.batonpass
    const types: string[] = []
    for await (const { event } of everyPage((page) => history.auditTrail(next.session.conversationId, page)))
      types.push(event.type)
    expect(types.filter((type) => type.includes('looked_back'))).toHaveLength(1)
  })

  it.each([{ window: 1, turn: 1 }, { words: 'island quokka' }])('finds it by %o', async (asked) => {
    const { stage } = await inSecondWindow()
    const { text } = await stage.call('look_back', asked)
    expect(text).toContain('on the island')
  })

  it('finds who used a file', async () => {
    const { stage } = await inSecondWindow()
    expect((await stage.call('look_back', { file: 'quokka.ts' })).text).toContain('called Bash "cat src/quokka.ts"')
  })

  it('searches messages and handoffs for words', async () => {
    const { stage, next } = await inSecondWindow()
    const said = await stage.call('search_history', { words: 'quokka island' })
    expect(said.text).toContain('on the island')
    expect(said.text).not.toContain('Handoffs with these words')
    const handedOver = await stage.call('search_history', { words: 'WOMBAT' })
    expect(handedOver.text).toContain(`Handoff ${next.handoff.id}`)
    expect((await stage.call('search_history', { words: '…' })).text).not.toContain('Handoffs with these words')
  })

  it('sees nothing of another conversation', async () => {
    const { stage } = await inSecondWindow()
    const other = await stage.session('p-2')
    await stage.handedOff(other, 'Of others', 'p-2')
    const { text } = await stage.call('look_back', { words: 'numbat' })
    const found = await stage.batonpass.history.messages(other.session.conversationId)
    expect(found.items.some((message) => message.text.includes('numbat'))).toBe(true)
    expect(text.match(/Find the numbat/g)).toHaveLength(1) // its own
  })
})
