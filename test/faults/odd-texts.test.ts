import { randomBytes } from 'node:crypto'
import { afterAll, describe, expect, it } from 'vitest'
import { claimOf } from '../../src/domain/handoff/handoff.ts'
import { unwrap } from '../../src/domain/unwrap.ts'
import type { StoreFailure } from '../../src/ports/store/store-failure.ts'
import { Scene } from '../../src/testing/scene.ts'
import { ReadBack } from '../cases/read-back.ts'
import { closeStores, openStore, STORE_KINDS } from '../support/stores.ts'

afterAll(closeStores)

/** What agents, shells and people have been seen to write. */
const ODD: Readonly<Record<string, string>> = {
  'a zero character': 'a\u0000b\u0000\u0000c',
  'half a pair, the first': 'a\ud83db',
  'half a pair, the second': 'a\ude00b',
  'a pair the wrong way round': 'x\ude00\ud83dy',
  'half a pair before a whole one': '\ud83d\ud83d\ude00\ude00',
  'the character that escapes': 'a\uf8ffb\uf8ff\uf8ffc',
  'what looks escaped already': '\uf8ff0 \uf8ffd83d \uf8ff\uf8ff0 \uf8ff',
  'the escape before something to escape': '\uf8ff\u0000\uf8ff\ud83d',
  'escapes as plain text': '\\u0000 \\ud83d \\uf8ff \\\\u0000 \\x00',
  'emoji of several code points': '👩‍👩‍👧‍👦 🏳️‍🌈 👍🏽',
  'right to left': 'שלום \u202eabc\u202c مرحبا',
  'quotes and comments': `'; drop table batonpass.turns; -- "$1" %s $$ {}`,
  'accents both ways': 'e\u0301 é',
  'line ends and separators': 'a\r\nb\u2028c\u2029d\u0085e\u000bf',
  'controls and noncharacters': '\u0001\u001b[31m\u007f\ufffe\uffff\u{10ffff}',
}

const KINDS = STORE_KINDS.filter((kind) => kind !== 'memory')

describe.each(KINDS)('on %s', (kind) => {
  const setUp = async () => {
    const scene = new Scene(await openStore(kind))
    return { scene, service: scene.service, history: scene.history, kept: new ReadBack(scene.store) }
  }

  it.each(Object.entries(ODD))('%s comes back as it was, in every place', async (_, odd) => {
    const { scene, service, history, kept } = await setUp()
    const name = scene.name(`${odd}.`)
    const opening = { originalTask: odd, externalKey: name, subject: odd, workspace: { workingDirectory: odd } }
    const { conversation } = unwrap(await service.openConversation(opening))
    expect(conversation).toMatchObject(opening)
    expect(await history.conversationByKey(name)).toStrictEqual(conversation)
    expect(unwrap(await service.openConversation(opening)).conversation.id).toBe(conversation.id)

    const agent = { agentName: name, backend: odd, model: odd, providerSessionId: name, prompt: odd }
    const started = unwrap(await service.startSession({ conversationId: conversation.id, ...agent }))
    expect(await history.sessionsOfProvider(name)).toStrictEqual([started.session])
    const toolCalls = [
      { callId: `${odd}1`, toolName: `${odd}.` },
      { callId: `${odd}2`, toolName: `${odd}.` },
    ]
    const messages = [{ role: 'assistant' as const, text: odd, toolCalls }]
    const worked = unwrap(await service.recordTurn({ ...started, messages }))
    expect(worked.turns[0]?.toolCalls).toMatchObject(toolCalls)
    expect(await scene.store.messages.findTurn(worked.turns[0]?.id ?? ('' as never))).toStrictEqual(worked.turns[0])

    const passing = {
      targetAgent: `${name}next`,
      reason: odd,
      document: odd,
      toolCalls: [`${odd}2`],
      traceContext: { traceparent: odd, tracestate: odd },
    }
    const { handoff } = unwrap(await service.initiateHandoff({ ...worked, ...passing }))
    expect(handoff).toMatchObject({ sourceAgent: name, targetAgent: `${name}next`, reason: odd, document: odd })
    expect(handoff.triggeringToolCalls).toMatchObject([toolCalls[1]])
    expect(await kept.handoff(handoff.id)).toStrictEqual(handoff)
    expect((await history.pendingFor(`${name}next`)).items).toStrictEqual([handoff])
    expect((await history.pendingFor(`${name}other`)).items).toStrictEqual([])
    const claimed = unwrap(await service.claimNext({ targetAgent: `${name}next`, claimant: name })).handoff
    expect(claimed && claimOf(claimed)?.claimant).toBe(name)
    const ended = unwrap(await service.cancelHandoff({ handoff: handoff.id, by: name, reason: odd }))
    expect(ended.handoff).toMatchObject({ endReason: odd })
    expect(await kept.handoff(handoff.id)).toStrictEqual(ended.handoff)

    const again = unwrap(await service.initiateHandoff({ session: worked.session.id, byHand: true, ...passing }))
    const next = unwrap(await service.completeHandoff({ ...again, continuation: odd }))
    expect(await kept.session(next.session.id)).toStrictEqual(next.session)
    expect((await kept.messages(conversation.id)).map(({ text }) => text)).toEqual([odd, odd, odd])
    const failed = unwrap(await service.failSession({ ...next, reason: odd }))
    expect(failed.session).toMatchObject({ state: 'failed', endReason: odd })
    expect(await kept.session(next.session.id)).toStrictEqual(failed.session)
    const positions = (await kept.audit(conversation.id)).map(({ position }) => position)
    expect(positions).toEqual(positions.map((_, at) => at + 1))
  })

  it('texts that only look alike are different keys', async () => {
    const { scene, service, history } = await setUp()
    const alike = ['\u0000', '\uf8ff0', '\uf8ff\uf8ff0', '\ud83d', '\uf8ffd83d', '\ufffd', 'e\u0301', 'é', '\\u0000']
    const keys = alike.map((text) => scene.name(`key${text}`))
    const opened = await Promise.all(
      keys.map((externalKey) => service.openConversation({ originalTask: 'Fix it', externalKey })),
    )
    expect(new Set(opened.map((result) => unwrap(result).conversation.id)).size).toBe(keys.length)
    for (const [at, key] of keys.entries()) {
      const result = opened[at]
      expect((await history.conversationByKey(key))?.id).toBe(result && unwrap(result).conversation.id)
    }
  })

  it('five megabytes of it come back as they were', async () => {
    const { scene, service, kept } = await setUp()
    const piece = Object.values(ODD).join(' ') + 'plain text '.repeat(400)
    const long = Array.from({ length: Math.ceil(5_000_000 / piece.length) }, (_, n) => `${piece}${n}`).join('')
    expect(long.length).toBeGreaterThan(5_000_000)
    const messages = [{ role: 'user' as const, text: long }]
    const worked = unwrap(await service.recordTurn({ ...(await scene.session()), messages }))
    expect((await kept.messages(worked.session.conversationId))[0]?.text === long).toBe(true)
    const passing = { targetAgent: scene.name('opus'), reason: long, document: long }
    const { handoff } = unwrap(await service.initiateHandoff({ ...worked, ...passing }))
    const stored = await kept.handoff(handoff.id)
    expect(stored.reason === long && stored.document === long).toBe(true)
  })
  it('a key too long for an index is turned down for good, and leaves nothing behind', async () => {
    const { scene, service, history, kept } = await setUp()
    const long = randomBytes(100_000).toString('base64')
    const working = await scene.worked('read_file')
    const toolCalls = [{ callId: long, toolName: 'read_file' }]
    const commands = [
      () => service.openConversation({ originalTask: 'Fix it', externalKey: long }),
      () => service.recordTurn({ ...working, messages: [{ role: 'assistant', text: 'Done', toolCalls }] }),
      () => service.initiateHandoff({ ...working, targetAgent: long, reason: 'Full' }),
    ]
    const before = await kept.everything(working.session.conversationId)
    for (const command of commands) {
      const isWorthAnotherTry = await command().then(
        ({ ok }) => ok,
        (failure: StoreFailure) => failure.retryable,
      )
      expect(isWorthAnotherTry).toBe(false)
    }
    expect(await kept.everything(working.session.conversationId)).toStrictEqual(before)
    expect(await history.conversationByKey(long)).toBeUndefined()
  })
})
