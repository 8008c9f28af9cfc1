import { describe, expect, it } from 'vitest'
import { recordHooks } from '../../src/domain/hooks/hook-delivery.ts'
import type { HookResult } from '../../src/domain/hooks/hook-result.ts'
import { unwrap } from '../../src/domain/unwrap.ts'
import { refusal } from '../../src/testing/expected-refusal.ts'
import { AT, CONVERSATION, conversationOf, SESSION } from './samples.ts'

const RESULTS: readonly HookResult[] = [
  { name: 'notify', type: 'shell', ok: true, output: 'secret', errorOutput: 'secret', exitCode: 0, durationMs: 12.6 },
  {
    name: 'tell',
    type: 'webhook',
    ok: false,
    output: 'secret',
    httpStatus: 502,
    durationMs: 3,
    error: { code: 'hook.http_status', message: 'secret' },
  },
]
const about = { conversationId: CONVERSATION, sessionId: SESSION, moment: 'after_handoff', results: RESULTS } as const

describe('hooks that were called', () => {
  const common = { type: 'hook.delivered', version: 1, conversationId: CONVERSATION, at: AT, sessionId: SESSION }

  it('are logged by how it went, not by what was said', () => {
    const { events } = unwrap(recordHooks({ conversation: conversationOf() }, about, AT))
    const moment = 'after_handoff'
    expect(events).toStrictEqual([
      { ...common, moment, hook: 'notify', hookType: 'shell', ok: true, durationMs: 13, exitCode: 0 },
      {
        ...common,
        moment,
        hook: 'tell',
        hookType: 'webhook',
        ok: false,
        durationMs: 3,
        httpStatus: 502,
        errorCode: 'hook.http_status',
      },
    ])
    expect(JSON.stringify(events)).not.toContain('secret')
  })

  it('change nothing else', () => {
    const conversation = conversationOf()
    const { changes, events, answer } = unwrap(recordHooks({ conversation }, about, AT))
    expect(changes).toEqual([])
    expect(events).toHaveLength(2)
    expect(answer).toStrictEqual({ conversation })
  })

  it('belong to a conversation that is there', () => {
    expect(refusal(recordHooks({}, about, AT))).toStrictEqual({
      code: 'conversation.not_found',
      conversationId: CONVERSATION,
    })
  })
})
