import { agentSessionId } from '../../domain/kernel/ids.ts'
import type { Result } from '../../domain/kernel/result.ts'
import type { Refusal } from '../../domain/refusal.ts'
import { unwrap } from '../../domain/unwrap.ts'
import type { COMMANDS } from '../../services/commands/command-list.ts'
import type { Scene, Worked } from '../scene.ts'

/** A request that is right, for one command. */
export type Asked = Readonly<Record<string, unknown>>

/** A command that is about to be asked: how, and of which session, whose holder may show a token. */
export interface Ready {
  readonly source: Worked
  readonly request: Asked
}

const working = async (scene: Scene): Promise<Worked> => scene.worked('read_file')

const onWorking =
  (more: (scene: Scene) => Asked = () => ({})) =>
  async (scene: Scene): Promise<Ready> => {
    const source = await working(scene)
    return { source, request: { session: source.session.id, ...more(scene) } }
  }

const onHandoff =
  (more: (scene: Scene) => Asked = () => ({})) =>
  async (scene: Scene): Promise<Ready> => {
    const { handoff, source } = await scene.initiated()
    return { source, request: { handoff: handoff.id, ...more(scene) } }
  }

const passedOn = (scene: Scene): Asked => ({ targetAgent: scene.name('opus'), reason: 'Full' })

/** For every command, a scene in which it is allowed, and the request to ask. */
export const READY: { readonly [Name in keyof typeof COMMANDS]: (scene: Scene) => Promise<Ready> } = {
  closeConversation: async (scene) => {
    const source = await working(scene)
    unwrap(await scene.service.completeSession(source))
    return { source, request: { conversation: source.session.conversationId } }
  },
  reopenConversation: async (scene) => {
    const source = await working(scene)
    unwrap(await scene.service.completeSession(source))
    const { conversationId: conversation } = source.session
    unwrap(await scene.service.closeConversation({ conversation }))
    return { source, request: { conversation } }
  },
  setConversationMetadata: async (scene) => {
    const source = await working(scene)
    return { source, request: { conversation: source.session.conversationId, metadata: { ticket: 1 } } }
  },
  setBudget: async (scene) => {
    const source = await working(scene)
    return { source, request: { conversation: source.session.conversationId, budget: { maxRestarts: 7 } } }
  },
  askConversation: async (scene) => {
    const source = await working(scene)
    return { source, request: { conversation: source.session.conversationId, prompt: 'Now something else' } }
  },
  setSessionMetadata: onWorking(() => ({ metadata: { ticket: 1 } })),
  recordLookBack: onWorking(() => ({ by: 'words', text: 'flaky test', found: 2 })),
  setHandoffMetadata: onHandoff(() => ({ metadata: { ticket: 1 } })),
  renewClaim: async (scene) => {
    const { handoff, source } = await scene.initiated()
    unwrap(await scene.service.acceptHandoff({ handoff, claimant: 'worker' }))
    return { source, request: { handoff: handoff.id, claimant: 'worker' } }
  },
  openConversation: async (scene) => ({ source: await working(scene), request: { originalTask: 'Fix it' } }),
  startSession: async (scene) => ({
    source: await working(scene),
    request: { conversationId: (await scene.conversation()).id, agentName: scene.name('one'), backend: 'scripted' },
  }),
  pauseSession: onWorking(),
  resumeSession: async (scene) => {
    const source = await working(scene)
    unwrap(await scene.service.pauseSession(source))
    return { source, request: { session: source.session.id } }
  },
  completeSession: onWorking(),
  failSession: onWorking(() => ({ reason: 'It gave up' })),
  takeOverSession: onWorking(),
  attachSession: async (scene) => {
    const started = await scene.session()
    const source = { ...started, turns: [] } as unknown as Worked
    return { source, request: { session: started.session.id, providerSessionId: scene.name('provider') } }
  },
  accountSession: onWorking(() => ({ totals: { inputTokens: 1, outputTokens: 2 } })),
  recordTurn: onWorking((scene) => ({ ...scene.turn('run_tests') })),
  recordTurns: onWorking((scene) => ({ turns: [scene.turn('run_tests')] })),
  captureSnapshot: onWorking(),
  initiateHandoff: onWorking(passedOn),
  restartSession: onWorking(() => ({ reason: 'Full' })),
  extendTurn: onHandoff(() => ({ messages: [{ role: 'tool', text: 'Green.' }] })),
  keepExtract: onHandoff(() => ({ extract: 'assistant: And then.' })),
  keepCheckpoint: onHandoff(() => ({ document: 'Half done', checkpoint: { outcome: 'kept' } })),
  prepareHandoff: async (scene) => {
    const { handoff, source } = await scene.initiated()
    unwrap(await scene.service.acceptHandoff({ handoff, claimant: 'worker' }))
    const targetSessionId = agentSessionId(scene.ids.next())
    return {
      source,
      request: { handoff: handoff.id, claimant: 'worker', continuation: 'Begin here', targetSessionId },
    }
  },
  acceptHandoff: onHandoff(() => ({ claimant: 'worker' })),
  claimNext: async (scene) => {
    const { handoff, source } = await scene.initiated()
    return { source, request: { targetAgent: handoff.targetAgent, claimant: 'worker' } }
  },
  completeHandoff: onHandoff(),
  cancelHandoff: onHandoff(() => ({ reason: 'Not needed' })),
  failHandoff: onHandoff(() => ({ reason: 'It could not be done' })),
  openThread: onWorking(passedOn),
  recordHooks: async (scene) => {
    const source = await working(scene)
    const { conversationId, id: sessionId } = source.session
    const result = { name: 'notify', type: 'shell', ok: true, output: '', durationMs: 1, exitCode: 0 }
    return { source, request: { conversationId, sessionId, moment: 'after_run', results: [result] } }
  },
  report: onWorking(() => ({
    report: { type: 'sample', reading: { state: 'metered', promptTokens: 1, outputTokens: 1 } },
  })),
  watch: onWorking(() => ({ settings: { policy: 'manual' } })),
  send: onWorking(() => ({ text: 'Look here' })),
}

/** The name of a command. */
export type CommandName = keyof typeof READY

/** Asks a command as a plain caller would, whom no type stops. */
export const ask = (scene: Scene, name: CommandName, request: unknown): Promise<Result<object, Refusal>> => {
  const methods = (['report', 'watch', 'send'].includes(name) ? scene.context : scene.service) as unknown as Record<
    string,
    (request: unknown) => Promise<Result<object, Refusal>>
  >
  return methods[name]?.(request) ?? Promise.reject(new TypeError(`There is no command ${name}`))
}
