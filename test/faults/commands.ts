import type { Answer } from '../../src/domain/decision.ts'
import type { CommandId, ConversationId } from '../../src/domain/kernel/ids.ts'
import type { Result } from '../../src/domain/kernel/result.ts'
import type { Refusal } from '../../src/domain/refusal.ts'
import { unwrap } from '../../src/domain/unwrap.ts'
import type { HandoffService } from '../../src/services/handoff-service.ts'
import type { Scene } from '../../src/testing/scene.ts'

/** A command that can be given now. */
export interface Prepared {
  /** Where it will write; a conversation that it opens is not known yet. */
  readonly conversationId?: ConversationId
  ask(service: HandoffService, commandId: CommandId): Promise<Result<Answer, Refusal>>
}

/** The commands that are tried. */
export type CommandName =
  | 'open'
  | 'start'
  | 'turn'
  | 'snapshot'
  | 'initiate'
  | 'accept'
  | 'complete'
  | 'cancel'
  | 'fail'
  | 'thread'

const TASK = { originalTask: 'Fix the flaky test' }

/** Every kind of command, each with what has to be there before it. */
export const COMMANDS: Readonly<Record<CommandName, (scene: Scene) => Promise<Prepared>>> = {
  open: async () => ({ ask: (service, commandId) => service.openConversation({ ...TASK, commandId }) }),
  start: async (scene) => {
    const { id: conversationId } = await scene.conversation()
    const agent = { conversationId, agentName: scene.name('claude-code'), backend: 'scripted', prompt: 'Go' }
    return { conversationId, ask: (service, commandId) => service.startSession({ ...agent, commandId }) }
  },
  turn: async (scene) => {
    const working = await scene.worked('read_file')
    const turn = scene.turn('read_file', 'run_tests')
    const { conversationId } = working.session
    return { conversationId, ask: (service, commandId) => service.recordTurn({ ...working, ...turn, commandId }) }
  },
  snapshot: async (scene) => {
    const working = await scene.worked('read_file')
    const { conversationId } = working.session
    return { conversationId, ask: (service, commandId) => service.captureSnapshot({ ...working, commandId }) }
  },
  initiate: async (scene) => {
    const { session, holder } = await scene.worked('read_file', 'run_tests')
    const asked = { session, holder, targetAgent: scene.name('opus'), reason: 'Full', document: 'Half done' }
    const { conversationId } = session
    return { conversationId, ask: (service, commandId) => service.initiateHandoff({ ...asked, commandId }) }
  },
  accept: async (scene) => {
    const { handoff } = await scene.initiated()
    const { conversationId } = handoff
    return {
      conversationId,
      ask: (service, commandId) => service.acceptHandoff({ handoff, claimant: 'worker', commandId }),
    }
  },
  complete: async (scene) => {
    const { handoff } = await scene.initiated()
    unwrap(await scene.service.acceptHandoff({ handoff, claimant: 'worker' }))
    const { conversationId } = handoff
    return {
      conversationId,
      ask: (service, commandId) => service.completeHandoff({ handoff, claimant: 'worker', commandId }),
    }
  },
  cancel: async (scene) => {
    const { handoff } = await scene.initiated()
    const { conversationId } = handoff
    return {
      conversationId,
      ask: (service, commandId) => service.cancelHandoff({ handoff, reason: 'Not needed', commandId }),
    }
  },
  fail: async (scene) => {
    const { handoff } = await scene.initiated()
    const { conversationId } = handoff
    return {
      conversationId,
      ask: (service, commandId) => service.failHandoff({ handoff, reason: 'It broke', commandId }),
    }
  },
  thread: async (scene) => {
    const { session, holder } = await scene.worked('read_file')
    const asked = { session, holder, targetAgent: scene.name('opus'), reason: 'Aside', child: { subject: 'Docs' } }
    const { conversationId } = session
    return { conversationId, ask: (service, commandId) => service.openThread({ ...asked, commandId }) }
  },
}

/** Each command by its name. */
export const ALL_COMMANDS: readonly (readonly [string, (scene: Scene) => Promise<Prepared>])[] =
  Object.entries(COMMANDS)
