import { describe, expect, it } from 'vitest'
import { lookBackText } from '../../src/domain/history/look-back-text.ts'
import { createBatonpass, unwrap, type WorkingSession } from '../../src/entry/index.ts'
import { MemoryStore } from '../../src/entry/memory.ts'
import { FaultInjector, FixedClock } from '../../src/entry/testing.ts'

const AGENT = { agentName: 'claude-code', backend: 'scripted' }

/** A conversation in its second window, whose first one read a file. */
const atWork = async (result: string) => {
  const logged: unknown[] = []
  const log = (fields: object, message: string) => void logged.push([message, fields])
  const logger = { debug: log, info: log, warn: log, error: log }
  const faults = new FaultInjector(new MemoryStore({ clock: new FixedClock() }))
  const batonpass = await createBatonpass({
    store: faults.store,
    logger,
    redact: (text) => text.replaceAll('s3cret', '***').replaceAll('forbidden', ''),
  })
  const { handoffs } = batonpass
  const { conversation } = unwrap(await handoffs.openConversation({ originalTask: 'Fix the flaky test' }))
  const started = unwrap(await handoffs.startSession({ conversationId: conversation.id, ...AGENT }))
  const toolCalls = [{ callId: 'toolu_01', toolName: 'Read', argument: 'src/flaky.ts' }]
  const call = { messages: [{ role: 'assistant' as const, text: 'I read it', toolCalls }] }
  const answer = { messages: [{ role: 'tool' as const, text: result, providerMessageId: 'toolu_01' }] }
  const worked = unwrap(await handoffs.recordTurns({ ...started, turns: [call, answer] }))
  const { handoff } = unwrap(await handoffs.initiateHandoff({ ...worked, targetAgent: 'opus', reason: 'Full' }))
  const next: WorkingSession = unwrap(await handoffs.completeHandoff({ handoff, claimant: 'worker' }))
  return { ...batonpass, faults, logged, next, handoff, session: next.session.id, conversation }
}

describe('a session that looks back', () => {
  it('reads a cited call and its result, and the question is on record with the handoff it came after', async () => {
    const { lookBack, history, session, conversation, handoff, audit } = await atWork('export const a = 1')
    const answer = unwrap(await lookBack.ask({ session, question: { by: 'call', callId: 'see [call:toolu_01]' } }))
    expect(answer).toMatchObject({ question: { by: 'call', callId: 'toolu_01' }, isWhole: true })
    expect(answer.found.map(({ epoch, turn, passage }) => [epoch, turn, passage.text])).toEqual([
      [1, 1, 'I read it'],
      [1, 2, 'export const a = 1'],
    ])
    const { items } = await history.lookBacks(conversation.id)
    expect(items).toMatchObject([
      { by: 'call', text: 'toolu_01', found: 2, sessionId: session, handoffId: handoff.id, epoch: 2 },
    ])
    expect(unwrap(await audit.verify(conversation.id)).intact).toBe(true)
  })

  it('reads a long result to its end, in parts that have a bound, and is on record once', async () => {
    const long = Array.from({ length: 4_000 }, (_, line) => `line ${line} \u0007😀`).join('\n')
    const { lookBack, history, session, conversation } = await atWork(long)
    let read = ''
    let cursor: string | undefined
    let asked = 0
    do {
      const request = { session, question: { by: 'call', callId: 'toolu_01' } as const }
      const answer = unwrap(await lookBack.ask(cursor === undefined ? request : { ...request, cursor }))
      const result = answer.found.find(({ role }) => role === 'tool')
      read += result?.passage.text ?? ''
      cursor = answer.next
      asked += 1
      expect(lookBackText(answer).length).toBeLessThan(8_600)
      expect(answer.isWhole).toBe(cursor === undefined)
    } while (cursor !== undefined && asked < 100)
    expect(read).toBe(long)
    expect(asked).toBeGreaterThan(5)
    expect((await history.lookBacks(conversation.id)).items).toHaveLength(1)
  })

  it('is answered when a redactor leaves nothing of its words to put on record', async () => {
    const { lookBack, history, session, conversation, logged } = await atWork('x')
    expect(unwrap(await lookBack.ask({ session, question: { by: 'words', words: 'forbidden' } })).isWhole).toBe(true)
    expect((await history.lookBacks(conversation.id)).items).toEqual([])
    expect(logged).toMatchObject([[expect.stringContaining('could not be put on record'), { code: 'input.invalid' }]])
  })

  it('has its words redacted and cut on record', async () => {
    const { lookBack, history, session, conversation } = await atWork('x')
    const words = `s3cret ${'y'.repeat(900)}`
    unwrap(await lookBack.ask({ session, question: { by: 'words', words } }))
    const { items } = await history.lookBacks(conversation.id)
    expect(items.map(({ text }) => text)).toEqual([`*** ${'y'.repeat(900)}`.slice(0, 300)])
  })

  it.each(['unavailable', 'reply_lost', 'conflict'] as const)('is answered when the record is %s', async (fault) => {
    const { lookBack, session, faults, logged, history, conversation } = await atWork('green')
    faults.plan(...Array.from({ length: 40 }, () => fault))
    const answer = unwrap(await lookBack.ask({ session, question: { by: 'words', words: 'green' } }))
    expect(answer.found).toHaveLength(1)
    const recorded = (await history.lookBacks(conversation.id)).items.length
    expect(recorded === 1 || logged.length > 0).toBe(true)
    if (fault === 'unavailable')
      expect(logged).toEqual([
        ['a look back was answered and could not be put on record', expect.objectContaining({ sessionId: session })],
      ])
  })

  it('is refused what cannot be meant', async () => {
    const { lookBack, session } = await atWork('x')
    const ask = async (request: object) => lookBack.ask({ session, ...request } as never)
    for (const question of [
      undefined,
      {},
      { by: 'mood' },
      { by: 'call', callId: ' ' },
      { by: 'call', callId: 'call:' },
      { by: 'turn', epoch: 0, turn: 1 },
      { by: 'turn', epoch: 1, turn: 1.5 },
      { by: 'file', name: '' },
      { by: 'words', words: 'x '.repeat(21) },
      { by: 'words', words: 'x'.repeat(1_001) },
    ])
      expect(await ask({ question }), JSON.stringify(question)).toMatchObject({ error: { code: 'input.invalid' } })
    const question = { by: 'words', words: 'x' }
    for (const more of [{ cursor: 'zzz' }, { limit: 10 }, { limit: 1_000_000 }])
      expect(await ask({ question, ...more })).toMatchObject({ error: { code: 'input.invalid' } })
    const nobody = '0190a0a0-0000-7000-8000-000000000999'
    expect(await ask({ session: nobody, question })).toMatchObject({ error: { code: 'session.not_found' } })
  })

  it('may do so when it has ended, and while its turns are recorded', async () => {
    const { lookBack, handoffs, history, next, session, conversation } = await atWork('x')
    const turn = { messages: [{ role: 'user' as const, text: 'On' }] }
    const question = { by: 'turn', epoch: 1, turn: 1 } as const
    const [asked, recorded] = await Promise.all([
      lookBack.ask({ session, question }),
      handoffs.recordTurn({ ...next, ...turn }),
    ])
    expect([asked.ok, recorded.ok]).toEqual([true, true])
    unwrap(await handoffs.completeSession({ session, byHand: true }))
    expect(unwrap(await lookBack.ask({ session, question })).found).toHaveLength(1)
    expect((await history.lookBacks(conversation.id)).items.map(({ text }) => text)).toEqual(['1.1', '1.1'])
  })
})
