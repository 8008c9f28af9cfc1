import { describe, expect, it } from 'vitest'
import {
  agentSessionId,
  commandId,
  conversationId,
  type HandoffId,
  handoffId,
  messageId,
  snapshotId,
  turnId,
} from '../../src/domain/kernel/ids.ts'
import { uuid } from './samples.ts'

const PARSERS = {
  AgentSessionId: agentSessionId,
  CommandId: commandId,
  ConversationId: conversationId,
  HandoffId: handoffId,
  MessageId: messageId,
  SnapshotId: snapshotId,
  TurnId: turnId,
} as const

describe.each(Object.entries(PARSERS))('%s', (name, parse) => {
  it('is a UUID, in lower case whatever it came in', () => {
    expect(parse(uuid(10).toUpperCase())).toBe(uuid(10))
  })

  it.each(['', 'x', `${uuid(1)} `, `{${uuid(1)}}`, uuid(1).replaceAll('-', ''), `${uuid(1)}\n`])('is not %j', (raw) => {
    expect(() => parse(raw)).toThrow(TypeError)
    expect(() => parse(raw)).toThrow(`${name} must be a UUID`)
  })

  it('is not something else than text', () => {
    for (const raw of [undefined, null, 7, {}]) expect(() => parse(raw as unknown as string)).toThrow(TypeError)
  })
})

it('one kind of id is not another', () => {
  const take = (id: HandoffId): string => id
  // @ts-expect-error a turn is not a handoff
  expect(take(turnId(uuid(1)))).toBe(uuid(1))
  // @ts-expect-error plain text is not a handoff
  expect(take(uuid(1))).toBe(uuid(1))
})
