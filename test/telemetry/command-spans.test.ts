import { AsyncLocalStorage } from 'node:async_hooks'
import { type Context, type ContextManager, context, ROOT_CONTEXT, SpanStatusCode, trace } from '@opentelemetry/api'
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  type ReadableSpan,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-base'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createBatonpass, unwrap } from '../../src/entry/index.ts'
import { MemoryStore } from '../../src/entry/memory.ts'
import { FaultInjector, FixedClock } from '../../src/entry/testing.ts'
import { ENDS, FILLS, play, script } from '../runner/played.ts'

/** What applications on Node have: the active span follows every await. */
class FollowingContexts implements ContextManager {
  readonly #storage = new AsyncLocalStorage<Context>()
  active = (): Context => this.#storage.getStore() ?? ROOT_CONTEXT
  with: ContextManager['with'] = (given, work, self, ...args) => this.#storage.run(given, () => work.apply(self, args))
  bind: ContextManager['bind'] = (_, target) => target
  enable = (): this => this
  disable = (): this => this
}

const watching = () => {
  const exporter = new InMemorySpanExporter()
  trace.setGlobalTracerProvider(new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] }))
  context.setGlobalContextManager(new FollowingContexts())
  onTestFinished(() => {
    trace.disable()
    context.disable()
  })
  return () => exporter.getFinishedSpans()
}

const ofCommands = (spans: readonly ReadableSpan[]): readonly ReadableSpan[] =>
  spans.filter(({ name }) => name.startsWith('batonpass.'))

const MESSAGES = [{ role: 'assistant' as const, text: 'A secret' }]

describe('commands of a program, as spans', () => {
  it('are children of the span that the caller is in, and say what they were about', async () => {
    const spans = watching()
    const { handoffs } = await createBatonpass({ store: 'memory' })
    const request = trace.getTracer('test').startSpan('POST /jobs')
    const { working, worked } = await context.with(trace.setSpan(context.active(), request), async () => {
      const { conversation } = unwrap(await handoffs.openConversation({ originalTask: 'Another secret' }))
      const agent = { conversationId: conversation.id, agentName: 'writer', backend: 'scripted' }
      const started = unwrap(await handoffs.startSession(agent))
      return { working: started, worked: unwrap(await handoffs.recordTurn({ ...started, messages: MESSAGES })) }
    })
    request.end()
    const shown = ofCommands(spans())
    expect(shown.map(({ name }) => name)).toEqual([
      'batonpass.open_conversation',
      'batonpass.start_session',
      'batonpass.record_turn',
    ])
    for (const { parentSpanContext, instrumentationScope } of shown) {
      expect(parentSpanContext?.spanId).toBe(request.spanContext().spanId)
      expect(instrumentationScope.name).toBe('batonpass')
    }
    expect(shown.at(-1)?.attributes).toEqual({
      'batonpass.command': 'record_turn',
      'batonpass.outcome': 'ok',
      'gen_ai.conversation.id': working.session.conversationId,
      'batonpass.session.id': worked.session.id,
    })
    expect(JSON.stringify(shown.map(({ attributes, events }) => [attributes, events]))).not.toContain('secret')
  })

  it('have the code of a refusal as their outcome, and are no errors', async () => {
    const spans = watching()
    const { handoffs } = await createBatonpass({ store: 'memory' })
    await handoffs.openConversation({ originalTask: ' ' })
    const [span] = ofCommands(spans())
    expect(span?.attributes).toEqual({
      'batonpass.command': 'open_conversation',
      'batonpass.outcome': 'input.invalid',
    })
    expect(span?.status.code).toBe(SpanStatusCode.UNSET)
  })

  it('are errors when the store fails, with the code of the failure', async () => {
    const spans = watching()
    const injector = new FaultInjector(new MemoryStore({ clock: new FixedClock() }))
    const { handoffs } = await createBatonpass({ store: injector.store })
    injector.plan('unavailable')
    await expect(handoffs.openConversation({ originalTask: 'x' })).rejects.toThrow()
    const [span] = ofCommands(spans())
    expect(span?.status.code).toBe(SpanStatusCode.ERROR)
    expect(span?.attributes).toMatchObject({ 'batonpass.outcome': 'failed', 'error.type': 'store.unavailable' })
  })

  it('are around the work: spans of a driver are children of them', async () => {
    const spans = watching()
    const store = new MemoryStore({ clock: new FixedClock() })
    const { commit } = store.unitOfWork
    store.unitOfWork.commit = (unit) => {
      trace.getTracer('driver').startSpan('INSERT').end()
      return commit.call(store.unitOfWork, unit)
    }
    const { handoffs } = await createBatonpass({ store })
    unwrap(await handoffs.openConversation({ originalTask: 'x' }))
    const [inside, command] = spans()
    expect(inside?.parentSpanContext?.spanId).toBe(command?.spanContext().spanId)
  })

  it('are one for a claim, however often it looks', async () => {
    const spans = watching()
    const { handoffs } = await createBatonpass({ store: 'memory' })
    const controller = new AbortController()
    let looks = 0
    const wait = { targetAgent: 'nobody', claimant: 'one', wait: true, pollMs: 1, signal: controller.signal }
    const claiming = handoffs.claimNext(wait)
    while (looks++ < 20) await new Promise((resolve) => setTimeout(resolve, 1))
    controller.abort(new Error('Enough'))
    await expect(claiming).rejects.toThrow('Enough')
    expect(ofCommands(spans()).map(({ name }) => name)).toEqual(['batonpass.claim_next'])
  })
})

describe('a run, as spans', () => {
  it('has those of its sessions, turns and handoffs, and none of its commands beside them', async () => {
    const spans = watching()
    const batonpass = await createBatonpass({ store: 'memory' })
    await play(batonpass, script([{ turns: FILLS, checkpoint: 'On.' }, { turns: ENDS }]))
    expect(spans().length).toBeGreaterThan(5)
    expect(ofCommands(spans())).toEqual([])
  })
})
