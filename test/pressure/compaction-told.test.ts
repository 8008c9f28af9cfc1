import { beforeEach, describe, expect, it } from 'vitest'
import { RunProgress } from '../../src/adapters/cli/render/run-progress.ts'
import type { ContextSignal } from '../../src/domain/session/context-signal.ts'
import type { SessionStartedAnswer } from '../../src/domain/session/start-session.ts'
import { unwrap } from '../../src/domain/unwrap.ts'
import { ContextService } from '../../src/entry/container.ts'
import { createBatonpass, type Logger } from '../../src/entry/index.ts'
import { Scene } from '../../src/testing/scene.ts'
import { play, script, turn } from '../runner/played.ts'
import { openStore, RULE_STORES } from '../support/stores.ts'

const COMPACTION = { type: 'compaction', trigger: 'auto', preTokens: 90_000 } as const

/** Somebody who is told, and somebody who reads the log. */
const audience = () => {
  const told: ContextSignal[] = []
  const warnings: (readonly [message: string, fields: Readonly<Record<string, unknown>>])[] = []
  const quiet = (): void => undefined
  const logger: Logger = {
    ...{ debug: quiet, info: quiet, error: quiet },
    warn: (fields, message) => void warnings.push([message, fields]),
  }
  const notifier = { notify: (signal: ContextSignal) => void told.push(signal) }
  return { told, warnings, parts: { logger, notifier } }
}

describe.each(RULE_STORES)('a compaction is told to somebody, on %s', (kind) => {
  let scene: Scene
  let working: SessionStartedAnswer
  beforeEach(async () => {
    scene = new Scene(await openStore(kind))
    working = await scene.session(scene.name('claude-code'))
  })

  const heard = async ({ session } = working) => {
    const { told, warnings, parts } = audience()
    const { store, clock, ids } = scene
    const context = new ContextService({ store, clock, ids, ...parts })
    const answers: string[] = []
    for (let time = 0; time < 2; time += 1)
      answers.push(unwrap(await context.report({ session: session.id, report: COMPACTION })).outcome)
    expect(answers).toEqual(['compaction_logged', 'repeated'])
    return { told, warnings }
  }

  it('to the person who runs the session when no other session started it: notifier, queue and log, once each', async () => {
    const { told, warnings } = await heard()
    const { id, agentName, conversationId } = working.session
    const text = `The context window of agent "${agentName}" (session ${id}) was compacted (auto).`
    const signal = { kind: 'compaction', recipientId: id, aboutId: id, conversationId, text, delivery: 'sequential' }
    expect(told).toMatchObject([signal])
    expect(await scene.context.waiting(id)).toMatchObject([signal])
    const facts = { conversationId, sessionId: id, trigger: 'auto' }
    expect(warnings).toMatchObject([['the runtime compacted by itself (auto)', facts]])
  })

  it('to the session that started it otherwise, and to the log', async () => {
    const { id: conversationId } = await scene.conversation()
    const agent = { agentName: scene.name('helper'), backend: 'scripted' }
    const request = { conversationId, ...agent, parentSessionId: working.session.id }
    const child = unwrap(await scene.service.startSession(request))
    const { told, warnings } = await heard(child)
    expect(told).toMatchObject([{ recipientId: working.session.id, aboutId: child.session.id }])
    expect(await scene.context.waiting(child.session.id)).toEqual([])
    expect(warnings).toHaveLength(1)
  })

  it('also while the watch is switched off', async () => {
    const { id } = working.session
    unwrap(await scene.context.watch({ session: id, settings: { isEnabled: false } }))
    expect((await heard()).told).toMatchObject([{ kind: 'compaction', recipientId: id }])
  })
})

describe('a compaction in a run', () => {
  it('reaches notifier, log and progress line, each once', async () => {
    const { told, warnings, parts } = audience()
    await using batonpass = await createBatonpass({ store: 'memory', ...parts })
    const turns = [turn(100, 'read'), { ...turn(300, 'read'), afterCompaction: true }, turn(350)]
    const { events } = await play(batonpass, script([{ turns }]))
    expect(told.filter(({ kind }) => kind === 'compaction')).toHaveLength(1)
    expect(warnings.filter(([message]) => message.startsWith('the runtime compacted by itself (auto)'))).toHaveLength(1)
    const lines: string[] = []
    const shown: string[] = []
    const progress = new RunProgress({ line: (text) => lines.push(text), status: (text) => void shown.push(text) })
    for (const event of events) progress.take(event)
    expect(lines).toContain('the runtime compacted by itself (auto)')
    expect(shown.find((text) => text.includes('1 compaction'))).toBeDefined()
    expect(progress.statusLine()).toContain('1 compaction')
  })
})
