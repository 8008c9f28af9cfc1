import type { Workspace } from '../../src/domain/conversation/conversation.ts'
import { defined } from '../../src/domain/kernel/defined.ts'
import { type ConversationId, conversationId } from '../../src/domain/kernel/ids.ts'
import type { Metadata } from '../../src/domain/kernel/metadata.ts'
import type { WorkingSession } from '../../src/domain/session/agent-session.ts'
import type { TurnInput } from '../../src/domain/turn/turn.ts'
import { type MaybeHeld, mustHold } from '../../src/services/commands/answers.ts'
import type { ChangeSessionRequest } from '../../src/services/commands/requests.ts'
import type { Stage } from './stage.ts'
import { turnOf } from './turns.ts'

/** The work of agents in their sessions. Without a name, "it" does it: the agent that the scenario named last. */
export class AgentsAtWork {
  readonly #stage: Stage

  constructor(stage: Stage) {
    this.#stage = stage
  }

  /** Opens a conversation under a key and continues it. */
  open(originalTask: string, key = 'conversation', workspace?: Workspace): Promise<void> {
    const { attempts, hands, service } = this.#stage
    const externalKey = this.#stage.named(key)
    const request = defined({ originalTask, externalKey, workspace })
    return attempts.ask(
      (commandId) => service.openConversation({ ...request, commandId }),
      ({ conversation }) => hands.enter(externalKey, conversation.id),
    )
  }

  async begin(agent: string, task = 'Fix the flaky test', workspace?: Workspace): Promise<void> {
    await this.open(task, 'conversation', workspace)
    await this.start(agent)
  }

  start(agent: string, prompt?: string): Promise<void> {
    return this.#start([agent], this.#stage.hands.conversationId, prompt)
  }

  startTogether(...agents: readonly string[]): Promise<void> {
    return this.#start(agents, this.#stage.hands.conversationId)
  }

  startNowhere(agent: string): Promise<void> {
    return this.#start([agent], conversationId(this.#stage.scene.ids.next()))
  }

  does(turns: readonly TurnInput[], agent?: string): Promise<void> {
    return this.#record(this.#stage.hands.working(agent), turns)
  }

  /** Turns in which tools were used, as a scenario lists them. */
  async usesTools(rows: readonly { readonly answering: string; readonly tools: readonly string[] }[]): Promise<void> {
    const { hands } = this.#stage
    const turns = rows.map(({ answering, tools }) =>
      turnOf(
        answering === 'tool' ? 'tool' : 'user',
        tools.map((tool) => hands.call(tool)),
      ),
    )
    for (const turn of turns) await this.does([turn])
  }

  /** A process that was superseded, or whose session has moved on, writes nevertheless. */
  doesAsFormer(agent: string): Promise<void> {
    return this.#record(this.#stage.hands.former(agent), [turnOf('user')])
  }

  doesOnFirstCopy(): Promise<void> {
    return this.#record(this.#stage.hands.firstCopy(), [turnOf('user')])
  }

  close(): Promise<void> {
    const { attempts, hands, service } = this.#stage
    const { conversationId: conversation } = hands
    return attempts.ask((commandId) => service.closeConversation({ conversation, commandId }))
  }

  reopen(): Promise<void> {
    const { attempts, hands, service } = this.#stage
    const { conversationId: conversation } = hands
    return attempts.ask((commandId) => service.reopenConversation({ conversation, commandId }))
  }

  /** Puts a note on the conversation. */
  note(metadata: Metadata): Promise<void> {
    const { attempts, hands, service } = this.#stage
    const { conversationId: conversation } = hands
    return attempts.ask((commandId) => service.setConversationMetadata({ conversation, metadata, commandId }))
  }

  takeOver(agent: string): Promise<void> {
    const { attempts, hands, service } = this.#stage
    const { session } = hands.working(agent)
    return attempts.ask(
      (commandId) => service.takeOverSession({ session, commandId }),
      (working) => hands.hold(mustHold(working)),
    )
  }

  pause(): Promise<void> {
    return this.#change((request) => this.#stage.service.pauseSession(request))
  }

  resume(agent: string): Promise<void> {
    return this.#change((request) => this.#stage.service.resumeSession(request), agent)
  }

  complete(): Promise<void> {
    return this.#change((request) => this.#stage.service.completeSession(request))
  }

  fail(reason: string): Promise<void> {
    return this.#change((request) => this.#stage.service.failSession({ ...request, reason }))
  }

  snapshot(): Promise<void> {
    const { attempts, hands, service } = this.#stage
    const working = hands.working()
    return attempts.ask((commandId) => service.captureSnapshot({ ...working, commandId }))
  }

  #start(agents: readonly string[], conversation: ConversationId, prompt?: string): Promise<void> {
    const { attempts, hands, service } = this.#stage
    const requests = agents.map((agentName) =>
      defined({ conversationId: conversation, agentName, backend: 'scripted', prompt }),
    )
    return attempts.race<MaybeHeld<WorkingSession>>(
      requests.map((request) => (commandId) => service.startSession({ ...request, commandId })),
      (working) => hands.hold(mustHold(working)),
    )
  }

  #record(working: WorkingSession, turns: readonly TurnInput[]): Promise<void> {
    const { attempts, hands, service } = this.#stage
    return attempts.ask(
      (commandId) => service.recordTurns({ ...working, turns, commandId }),
      (answer) => hands.recorded(answer, working.holder),
    )
  }

  #change(
    command: (request: ChangeSessionRequest) => ReturnType<Stage['service']['pauseSession']>,
    agent?: string,
  ): Promise<void> {
    const { attempts, hands } = this.#stage
    const working = hands.working(agent)
    return attempts.ask(
      (commandId) => command({ ...working, commandId }),
      ({ session }) => hands.hold({ ...working, session }),
    )
  }
}
