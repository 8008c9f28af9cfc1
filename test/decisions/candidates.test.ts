import { describe, expect, it } from 'vitest'
import type { AgentSession } from '../../src/domain/session/agent-session.ts'
import {
  afterEnd,
  type CandidateFacts,
  candidacyOf,
  decidePassing,
  decideSuccession,
  isGiven,
  isStranded,
  type SuccessionFacts,
  type SuccessionOutcome,
  type TerminalStart,
  withTypedPrompt,
} from '../../src/domain/terminal/candidate.ts'
import { type DocumentCommand, decideDocument, evolveDocument } from '../../src/domain/terminal/document-lifecycle.ts'
import type { DocumentFacts, LeftDocument } from '../../src/domain/terminal/left-document.ts'
import {
  COMMAND,
  CONVERSATION,
  conversationOf,
  DEADLINE,
  HANDOFF,
  HOLDER,
  LATER,
  sessionOf,
  uuid,
} from '../domain/samples.ts'

const LEFT: DocumentFacts = { id: uuid(1), providerSessionId: 'blue', text: 'Half is done.', expiresAt: DEADLINE }

/** A document to which this has happened, one after the other. */
const left = (...commands: readonly DocumentCommand[]): LeftDocument =>
  commands.reduce<LeftDocument>(
    (before, command) => {
      const decided = decideDocument(before, command)
      if (!decided.ok) throw new Error(`cannot have happened: ${decided.error.code}`)
      return evolveDocument(before, decided.value)
    },
    { status: 'pending', document: LEFT },
  )

const takenBy = (by: string): DocumentCommand => ({ type: 'take', by })

const CANDIDATE: CandidateFacts = { providerSessionId: 'green', pendingId: LEFT.id, prompts: [], hasEnded: false }

const given = (facts: SuccessionFacts) => ({
  when: (candidate: Partial<CandidateFacts> = {}) => ({
    thenIs: (expected: Partial<SuccessionOutcome>) => {
      const { type } = expected
      const decided = decideSuccession({ ...CANDIDATE, ...candidate }, facts)
      expect(decided).toMatchObject(expected)
      expect(decided.type).toBe(type)
    },
  }),
})

describe('the first turn of a candidate that began with a document', () => {
  const takes = { type: 'document', event: { type: 'document.taken', by: 'green' } } as const

  it('takes the document while it waits', () => {
    given({ document: left() }).when().thenIs(takes)
    given({ document: left({ type: 'refresh', text: 'More', now: LATER }) })
      .when()
      .thenIs(takes)
  })

  it('takes it again after it was interrupted', () => {
    given({ document: left(takenBy('green')) })
      .when()
      .thenIs(takes)
  })

  it('takes it also when its terminal has ended since: the handoff is not to be lost', () => {
    given({ document: left() }).when({ hasEnded: true }).thenIs(takes)
  })

  it('comes too late once another candidate has it', () => {
    given({ document: left(takenBy('red')) })
      .when()
      .thenIs({ type: 'alone' })
  })

  it.each(['replaced', 'withdrawn'] as const)('finds nothing to take of a document that was %s', (because) => {
    given({ document: left({ type: 'close', because, now: LATER }) })
      .when()
      .thenIs({ type: 'alone' })
    given({}).when().thenIs({ type: 'alone' })
  })

  it('never takes another document than the one it began with', () => {
    given({ document: left() })
      .when({ pendingId: uuid(2) })
      .thenIs({ type: 'alone' })
  })
})

const NOTE = {
  handoff_pending: true,
  handoff_source_thread_id: CONVERSATION,
  handoff_memory_file: 'CLAUDE.md',
  handoff_workspace: '/job',
  handoff_expires_at: DEADLINE,
  handoff_draft: uuid(3),
}

const threadOf = (over: Partial<AgentSession> = {}, isPending = true) => {
  const { progress, ...rest } = sessionOf({ state: 'active' }, { initiatedByHandoff: HANDOFF })
  const baton = { ...rest, progress: { ...progress, turns: 0 }, ...over } as AgentSession
  return { conversation: conversationOf({ metadata: { ...NOTE, handoff_pending: isPending } }), baton }
}

describe('the first turn of a candidate that began with the summary of a thread', () => {
  const thread = { thread: CONVERSATION, pendingId: CONVERSATION }

  it('takes the session that waits in the thread', () => {
    given({ thread: threadOf() }).when(thread).thenIs({ type: 'thread', isAgain: false })
  })

  it('takes it over again after it had got its name and was interrupted', () => {
    given({ thread: threadOf({ providerSessionId: 'green' }) })
      .when(thread)
      .thenIs({ type: 'thread', isAgain: true })
  })

  it('is alone once another terminal has the thread, or its summary waits no longer', () => {
    given({ thread: threadOf({ providerSessionId: 'red' }) })
      .when(thread)
      .thenIs({ type: 'alone' })
    given({ thread: threadOf({}, false) })
      .when(thread)
      .thenIs({ type: 'alone' })
    given({}).when(thread).thenIs({ type: 'alone' })
  })

  it('leaves the thread to another one when its terminal ended before', () => {
    given({ thread: threadOf() })
      .when({ ...thread, hasEnded: true })
      .thenIs({ type: 'alone' })
  })
})

it('a fork is a branch of what it is a copy of, whatever waits in its workspace', () => {
  given({ document: left() }).when({ isFork: true }).thenIs({ type: 'copy' })
})

describe('a terminal that starts', () => {
  const start = (over: Partial<TerminalStart>): TerminalStart => ({ providerSessionId: 'green', cwd: '/job', ...over })

  it.each([
    [undefined, 'successor'],
    ['startup', 'successor'],
    ['clear', 'successor'],
    ['fork', 'copy'],
    ['resume', undefined],
    ['compact', undefined],
  ] as const)('by %s may be a %s', (source, expected) => {
    const started = start(source === undefined ? {} : { source })
    expect(candidacyOf(started)).toBe(expected)
    for (const inside of [{ parentSessionId: uuid(2) }, { within: 'blue' }])
      expect(candidacyOf({ ...started, ...inside })).toBeUndefined()
    expect(candidacyOf({ providerSessionId: 'green', ...(source !== undefined && { source }) })).toBeUndefined()
  })

  const cases = [
    // session, source, on record, in time: given?
    ['green', 'startup', false, LATER, true],
    ['green', 'startup', true, LATER, false],
    ['green', 'startup', false, DEADLINE, false],
    ['blue', 'clear', true, LATER, true],
    ['blue', 'clear', true, DEADLINE, false],
    ['blue', 'startup', true, LATER, false],
    ['blue', 'startup', false, LATER, false],
  ] as const

  it.each(cases)(
    '%s by %s (on record: %s) at %s is given what blue left: %s',
    (id, source, isOnRecord, now, expected) => {
      expect(isGiven(LEFT, start({ providerSessionId: id, source }), { now, isOnRecord })).toBe(expected)
    },
  )
})

describe('a candidate before its first turn', () => {
  const typed = (number: number) => ({ commandId: uuid(number) as typeof COMMAND, prompt: `Prompt ${number}` })

  it('remembers each prompt once, and the newest fifty', () => {
    const once = withTypedPrompt(CANDIDATE, typed(1))
    expect(once.prompts).toEqual([typed(1)])
    expect(withTypedPrompt(once, { ...typed(1), prompt: 'Again' })).toBe(once)
    expect(withTypedPrompt(once, { commandId: COMMAND, prompt: ' \n' })).toBe(once)
    const many = Array.from({ length: 60 }, (_, number) => typed(number + 1)).reduce(
      withTypedPrompt<CandidateFacts>,
      CANDIDATE,
    )
    expect([many.prompts.length, many.prompts[0], many.prompts.at(-1)]).toEqual([50, typed(11), typed(60)])
  })

  it('was never there if its terminal ends and nobody typed anything; else it waits for its resumption', () => {
    expect(afterEnd(CANDIDATE)).toBeUndefined()
    const prompted = withTypedPrompt(CANDIDATE, typed(1))
    expect(afterEnd(prompted)).toStrictEqual({ ...prompted, hasEnded: true })
  })

  it('is stranded when it has ended and its document waits no longer', () => {
    const ended = { ...CANDIDATE, hasEnded: true }
    expect([isStranded(ended, undefined), isStranded(ended, LEFT), isStranded(CANDIDATE, undefined)]).toEqual([
      true,
      false,
      false,
    ])
  })
})

describe('the conversation of a taken document', () => {
  const source = { holder: HOLDER.token }
  const agent = { agentName: 'claude-code' }

  it('passes to the same agent as a restart, and to another one as a transfer', () => {
    expect(decidePassing(agent, source, 'claude-code')).toStrictEqual({
      ok: true,
      value: { kind: 'context_restart', holder: HOLDER.token },
    })
    expect(decidePassing(agent, source, 'codex')).toMatchObject({ ok: true, value: { kind: 'agent_transfer' } })
  })

  it('does not pass when its session is unknown, or another process works it', () => {
    expect(decidePassing(agent, undefined, 'codex')).toStrictEqual({ ok: false, error: 'session.not_found' })
    expect(decidePassing(agent, {}, 'codex')).toStrictEqual({ ok: false, error: 'session.superseded' })
  })
})
