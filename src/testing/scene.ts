import type { Conversation } from '../domain/conversation/conversation.ts'
import type { HandoffMetadata } from '../domain/handoff/handoff.ts'
import type { InitiateHandoff } from '../domain/handoff/initiate-handoff.ts'
import type { WorkingSession } from '../domain/session/agent-session.ts'
import type { ChangeTarget } from '../domain/session/change-session.ts'
import type { SessionStartedAnswer, StartSession } from '../domain/session/start-session.ts'
import type { TurnInput } from '../domain/turn/turn.ts'
import { unwrap } from '../domain/unwrap.ts'
import type { Store } from '../ports/store/store.ts'
import type { RecordedTurns } from '../services/commands/answers.ts'
import { HandoffService } from '../services/handoff-service.ts'
import { HandoffHistory } from '../services/history/handoff-history.ts'
import { ContextService } from '../services/window/context-service.ts'
import { CountingIds } from './counting-ids.ts'
import { FixedClock } from './fixed-clock.ts'

/** A store to be tried, and how to let its clock move on: a fixed clock is advanced, a server's is waited for. */
export interface StoreUnderTest {
  readonly store: Store
  passTime(milliseconds: number): Promise<void>
}

/** The answer to a turn, with the token of the holder that recorded it. */
export type Worked = RecordedTurns & Pick<WorkingSession, 'holder'>

/** A service over a store that may already hold other things, with names no other scene uses. */
export class Scene {
  readonly clock = new FixedClock()
  readonly ids: CountingIds
  readonly service: HandoffService
  readonly history: HandoffHistory
  readonly context: ContextService
  readonly store: Store
  readonly #seed: string
  readonly #passTime: StoreUnderTest['passTime']
  #calls = 0

  constructor({ store, passTime }: StoreUnderTest) {
    const seed = Math.floor(Math.random() * 2 ** 47)
    this.#seed = seed.toString(36)
    this.ids = new CountingIds(seed)
    this.store = store
    this.#passTime = passTime
    this.service = this.serviceOver(store)
    this.history = this.historyOver(store)
    this.context = this.contextOver(store)
  }

  /** Another caller of the same store. */
  serviceOver(store: Store): HandoffService {
    return new HandoffService({ store, clock: this.clock, ids: this.ids })
  }

  /** Another reader of the same store. */
  historyOver(store: Store): HandoffHistory {
    return new HandoffHistory({ store })
  }

  /** Another watcher of the same store. */
  contextOver(store: Store): ContextService {
    return new ContextService({ store, clock: this.clock, ids: this.ids })
  }

  /** A name that no other scene uses, for agents, keys and claimants. */
  name(base: string): string {
    return `${base}-${this.#seed}`
  }

  passTime(milliseconds: number): Promise<void> {
    return this.#passTime(milliseconds)
  }

  async conversation(): Promise<Conversation> {
    return unwrap(await this.service.openConversation({ originalTask: 'Fix the flaky test' })).conversation
  }

  async session(
    agentName = this.name('claude-code'),
    conversation?: Conversation,
    more: Partial<StartSession> = {},
  ): Promise<SessionStartedAnswer> {
    const { id } = conversation ?? (await this.conversation())
    return unwrap(await this.service.startSession({ conversationId: id, agentName, backend: 'scripted', ...more }))
  }

  /** A turn in which the user speaks and the agent uses these tools. */
  turn(...toolNames: readonly string[]): TurnInput {
    const toolCalls = toolNames.map((toolName) => {
      this.#calls += 1
      return { callId: `call-${this.#calls}`, toolName }
    })
    return {
      messages: [
        { role: 'user', text: 'Go on' },
        { role: 'assistant', text: 'Done', toolCalls },
      ],
      usage: { state: 'metered', promptTokens: 1_000 + this.#calls, outputTokens: 50 },
    }
  }

  /** A session that has done one turn. */
  async worked(...toolNames: readonly string[]): Promise<Worked> {
    return this.work(await this.session(), ...toolNames)
  }

  /** One more turn of a session, and what its holder holds afterwards. */
  async work(working: WorkingSession, ...toolNames: readonly string[]): Promise<Worked> {
    const { holder } = working
    return { ...unwrap(await this.service.recordTurn({ ...working, ...this.turn(...toolNames) })), holder }
  }

  async initiated(
    overrides: Partial<Omit<InitiateHandoff, keyof ChangeTarget>> = {},
  ): Promise<{ readonly handoff: HandoffMetadata; readonly source: Worked }> {
    const source = await this.worked('read_file', 'run_tests')
    const request = { ...source, targetAgent: this.name('opus'), reason: 'The window is nearly full', ...overrides }
    return { handoff: unwrap(await this.service.initiateHandoff(request)).handoff, source }
  }
}
