import { describe, expect, it } from 'vitest'
import { type HolderToken, holderToken } from '../src/domain/kernel/ids.ts'
import * as checkpoints from '../src/entry/checkpoints.ts'
import { type ContinuationParts, reviewCheckpoint } from '../src/entry/checkpoints.ts'
import * as claude from '../src/entry/claude.ts'
import * as codex from '../src/entry/codex.ts'
import type { HandoffHistory, HandoffService } from '../src/entry/container.ts'
import * as container from '../src/entry/container.ts'
import * as hooks from '../src/entry/hooks.ts'
import * as batonpass from '../src/entry/index.ts'
import {
  agentSessionId,
  type HandoffId,
  type HandoffMetadata,
  handoffId,
  instant,
  type MessageInput,
  type Refusal,
  type RefusalCode,
  type TurnId,
  turnId,
  type UsageReading,
} from '../src/entry/index.ts'
import * as memory from '../src/entry/memory.ts'
import type { InitiateRequest, RecordTurnRequest } from '../src/entry/ports.ts'
import * as ports from '../src/entry/ports.ts'
import * as telemetry from '../src/entry/telemetry.ts'
import * as testing from '../src/entry/testing.ts'
import * as window from '../src/entry/window.ts'

const UUID = '0190a0a0-0000-7000-8000-000000000001'

/** Code that is compiled and never run: each line marked as an error must be one. */
const compiled = (_misuse: (service: HandoffService, history: HandoffHistory) => unknown): void =>
  expect(true).toBe(true)

describe('what does not compile', () => {
  const take = (id: HandoffId): HandoffId => id
  const session = agentSessionId(UUID)

  it('one id in the place of another', () => {
    // @ts-expect-error a turn is not a handoff
    expect(take(turnId(UUID))).toBe(UUID)
    // @ts-expect-error a handoff is not a turn
    const turn: TurnId = handoffId(UUID)
    expect(turn).toBe(UUID)
  })

  it('a plain string as an id', () => {
    // @ts-expect-error only the parser makes ids
    expect(take(UUID)).toBe(UUID)
    expect(take(handoffId(UUID))).toBe(UUID)
  })

  it('a turn from nobody in particular', () => {
    compiled((service) => {
      // @ts-expect-error a turn is taken only from the session's holder
      const request: RecordTurnRequest = { session, messages: [] }
      // @ts-expect-error the same, said at the call
      return [request, service.recordTurn({ session, messages: [] })]
    })
  })

  it('a change of a session from nobody in particular, or from two', () => {
    const holder = holderToken(UUID)
    const to = { targetAgent: 'opus' }
    const reason = 'It broke'
    const metadata = {}
    compiled((service) => [
      service.pauseSession({ session, holder }),
      service.pauseSession({ session, byHand: true }),
      // @ts-expect-error neither the token nor by hand
      service.pauseSession({ session }),
      // @ts-expect-error the same of each of the others
      service.completeSession({ session }),
      // @ts-expect-error
      service.resumeSession({ session }),
      // @ts-expect-error
      service.failSession({ session, reason }),
      // @ts-expect-error
      service.initiateHandoff({ session, ...to }),
      // @ts-expect-error
      service.openThread({ session, ...to }),
      // @ts-expect-error
      service.setSessionMetadata({ session, metadata }),
      // @ts-expect-error who has the token does not act by hand
      service.initiateHandoff({ session, holder, byHand: true, ...to }),
      // @ts-expect-error by hand is said, or left out
      service.pauseSession({ session, byHand: false }),
    ])
    const maybe: { readonly holder?: HolderToken } = {}
    // @ts-expect-error a token that may be missing is not shown
    compiled((service) => service.pauseSession({ session, ...maybe }))
    // @ts-expect-error the same, in a request
    const request: InitiateRequest = { session, ...maybe, ...to }
    expect(request.targetAgent).toBe('opus')
  })

  it('tool calls of a user', () => {
    const toolCalls = [{ callId: 'toolu_01', toolName: 'run_tests' }]
    const assistant: MessageInput = { role: 'assistant', text: 'Done', toolCalls }
    // @ts-expect-error only an assistant calls tools
    const user: MessageInput = { role: 'user', text: 'Go on', toolCalls }
    expect([assistant, user]).toHaveLength(2)
  })

  it('a thread initiated as a handoff', () => {
    const request = { session, byHand: true as const, targetAgent: 'opus', reason: 'A side question' }
    compiled((service) => [
      service.initiateHandoff({ ...request, kind: 'context_restart' }),
      // @ts-expect-error a thread has a command of its own, because it leaves its source alone
      service.initiateHandoff({ ...request, kind: 'thread' }),
    ])
    // @ts-expect-error the same, in a request
    const thread: InitiateRequest = { ...request, kind: 'thread' }
    expect(thread.kind).toBe('thread')
  })

  it('the target of a handoff that may have none', () => {
    const targetOf = (handoff: HandoffMetadata): string | undefined => {
      if (handoff.status === 'completed') return handoff.targetSessionId
      // @ts-expect-error only a completed handoff has a target session
      return handoff.targetSessionId
    }
    // @ts-expect-error nor does one that was just initiated
    type Target = Extract<HandoffMetadata, { status: 'initiated' }>['targetSessionId']
    expect(targetOf({ status: 'initiated' } as HandoffMetadata)).toBeUndefined()
    expect<Target | undefined>(undefined).toBeUndefined()
  })

  it('tokens of an unknown reading', () => {
    const tokensOf = (reading: UsageReading): number | undefined => {
      if (reading.state === 'metered') return reading.promptTokens + reading.outputTokens
      // @ts-expect-error unknown is not a number of tokens
      return reading.promptTokens
    }
    // @ts-expect-error nor can it be given one
    const guess: UsageReading = { state: 'unknown', promptTokens: 0 }
    expect(tokensOf({ state: 'unknown' })).toBeUndefined()
    expect(guess.state).toBe('unknown')
  })

  it('a continuation from a checkpoint that nobody reviewed, or from nowhere', () => {
    const from = { sessionId: session, handoffId: handoffId(UUID), at: instant(0) }
    const checkpoint = reviewCheckpoint('x', { knownCalls: new Set() })
    const fine: ContinuationParts = { originalTask: 'Fix it', checkpoint, from, nonce: UUID }
    // @ts-expect-error a plain text was not held against the record
    const unseen: ContinuationParts = { ...fine, checkpoint: 'x' }
    // @ts-expect-error a session is not a handoff
    const mixed: ContinuationParts = { ...fine, from: { ...from, handoffId: session } }
    expect([unseen, mixed]).toHaveLength(2)
  })

  it('a change to what was answered', () => {
    compiled(async (_, history) => {
      const handoff = await history.handoff(handoffId(UUID))
      // @ts-expect-error answers are read, not written
      if (handoff) handoff.reason = 'Another'
    })
  })
})

describe('refusals', () => {
  const exits = {
    'input.invalid': 2,
    'conversation.not_found': 3,
    'conversation.closed': 4,
    'conversation.open': 4,
    'conversation.session_active': 4,
    'conversation.handoff_open': 4,
    'conversation.key_taken': 4,
    'session.not_found': 3,
    'session.not_active': 4,
    'session.illegal_transition': 4,
    'session.held': 4,
    'session.superseded': 4,
    'session.no_token': 4,
    'session.attached': 4,
    'transaction.conflict': 4,
    'budget.unpriced': 4,
    'budget.unmetered': 4,
    'session.leased': 4,
    'session.not_leased': 4,
    'session.no_turns': 4,
    'turn.not_found': 3,
    'tool_call.not_found': 3,
    'handoff.not_found': 3,
    'handoff.same_agent': 4,
    'handoff.already_open': 4,
    'handoff.illegal_transition': 4,
    'turn.not_last': 4,
    'handoff.checkpointed': 4,
    'handoff.extracted': 4,
    'handoff.already_claimed': 4,
    'handoff.not_claimant': 4,
    'prompt.fence_not_unique': 4,
    'command.id_reused': 4,
    'thread.not_summarized': 4,
    'thread.no_workspace': 4,
    'thread.refinements_spent': 4,
    'thread.summary_empty': 4,
    'thread.block_not_reset': 4,
    'thread.other_store': 4,
    'thread.reported': 4,
    'feed.moved': 4,
    several: 4,
  } as const satisfies Record<RefusalCode, number>

  it('can be told apart by their codes, all of them', () => {
    expect(Object.keys(exits)).toHaveLength(42)
    // @ts-expect-error a code that is forgotten breaks the build
    const forgetful = { 'input.invalid': 2 } as const satisfies Record<RefusalCode, number>
    expect(forgetful['input.invalid']).toBe(2)
  })

  it('leave nothing over once every code had its case', () => {
    const isAboutInput = (refusal: Refusal): boolean => {
      switch (refusal.code) {
        case 'input.invalid':
          return true
        case 'several':
          return refusal.reasons.some(isAboutInput)
        default:
          // @ts-expect-error other codes are left
          refusal satisfies never
          return false
      }
    }
    expect(isAboutInput({ code: 'several', reasons: [{ code: 'input.invalid', fields: [] }] })).toBe(true)
  })

  it('carry the details of their own code only', () => {
    // @ts-expect-error wrong input is not a session
    const mixed: Refusal = { code: 'input.invalid', sessionId: agentSessionId(UUID) }
    expect(mixed.code).toBe('input.invalid')
  })
})

describe('the public surface', () => {
  it('has these values, and changes on purpose only', () => {
    expect(Object.keys(batonpass).sort()).toEqual([
      'ConfigurationError',
      'DEFAULT_MILESTONES',
      'RefusedError',
      'RuntimeFailure',
      'StoreFailure',
      'WorktreeFailure',
      'agentSessionId',
      'commandId',
      'conversationId',
      'createBatonpass',
      'describeRefusal',
      'everyPage',
      'functionRuntime',
      'handoffId',
      'hasBaton',
      'holderToken',
      'instant',
      'isOpen',
      'isTerminal',
      'lookBackText',
      'readConfiguration',
      'taskOf',
      'totalMessages',
      'turnId',
      'unwrap',
      'withholdTexts',
    ])
  })

  it('has the parts and their names beside it, for programs that put them together', () => {
    expect(Object.keys(container).sort()).toEqual([
      'AuditService',
      'ContextService',
      'HandoffHistory',
      'HandoffService',
      'InProcessNotifier',
      'LookBack',
      'RestartRunner',
      'TOKENS',
      'ThreadHandoffService',
      'buildContainer',
      'sha256',
      'systemClock',
      'uuidV7Ids',
    ])
  })

  it('has the types of every request, answer and port beside it, with the tables and helpers of a store', () => {
    expect(Object.keys(ports).sort()).toEqual([
      'CONVERSATION_TRANSITIONS',
      'HANDOFF_TRANSITIONS',
      'MemoryFileFailure',
      'SESSION_TRANSITIONS',
      'TEXT_WITHHELD',
      'describeThreadRefusal',
      'foldHistory',
      'messageId',
      'rangeContains',
      'rangeLength',
      'sequenceRange',
      'signalId',
      'snapshotId',
      'terminalStates',
      'toMermaid',
    ])
  })

  it('has the following of a window beside it', () => {
    expect(Object.keys(window).sort()).toEqual(['WindowGauge'])
  })

  it('has the readers of each runtime, and the runtimes, beside it', () => {
    expect(Object.keys(claude).sort()).toEqual([
      'agentSdkReader',
      'agentSdkRuntime',
      'agentSdkSummarizer',
      'claudeCommandRuntime',
      'statusLineReader',
      'transcriptReader',
    ])
    expect(Object.keys(codex).sort()).toEqual(['codexRuntime', 'execReader', 'rolloutReader'])
  })

  it('has what checkpoints are made of beside it', () => {
    expect(Object.keys(checkpoints).sort()).toEqual([
      'CHECKPOINT_SECTIONS',
      'DEFAULT_CHECKPOINT_TEMPLATE',
      'DEFAULT_CONTINUATION_TEMPLATE',
      'DEFAULT_SOFT_LANDING',
      'checkpointIn',
      'checkpointPrompt',
      'choosePersonWords',
      'continuationPrompt',
      'extractiveSummarizer',
      'functionSummarizer',
      'minimalContinuation',
      'personWordsBlock',
      'personWordsBudget',
      'recapOf',
      'reviewCheckpoint',
    ])
  })

  it('has the running of hooks beside it', () => {
    expect(Object.keys(hooks).sort()).toEqual([
      'NodeHookRunner',
      'handoffAnswer',
      'hookContext',
      'hookSession',
      'hookSessionStart',
      'promptAfterHooks',
      'runHooks',
      'thresholdAnswer',
      'thresholdOutcome',
    ])
  })

  it('has the watching of runs beside it', () => {
    expect(Object.keys(telemetry)).toEqual(['openTelemetry'])
  })

  it('has a store in memory, and what tests need, beside it', () => {
    expect(Object.keys(memory)).toEqual(['MemoryStore'])
    expect(Object.keys(testing).sort()).toEqual([
      'CountingIds',
      'FaultInjector',
      'FixedClock',
      'ScriptedRuntime',
      'readerContract',
      'refusal',
      'storeContract',
    ])
  })
})
