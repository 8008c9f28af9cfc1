import type { HandoffMetadata } from '../../domain/handoff/handoff.ts'
import { defined } from '../../domain/kernel/defined.ts'
import type { AgentRuntime } from '../../ports/agent/agent-runtime.ts'
import { type AgentRunSettings, type AgentWorkplace, type RunRequest, withAgent, withPlace } from './run-request.ts'

/** An agent that may take part in a run, and its settings where the run sets none. */
export interface CastMember<Message = unknown>
  extends Pick<AgentRunSettings, 'hooks' | 'milestones' | 'contextLimit' | 'place'> {
  readonly runtime: AgentRuntime<Message>
  readonly model?: string
}

/** The agents that may take part in a run, by their names. */
export type Cast<Message = unknown> = Readonly<Record<string, AgentRuntime<Message> | CastMember<Message>>>

/** The messages of every agent in a cast. */
export type CastMessage<Agents extends Cast> = {
  [Name in keyof Agents]: Agents[Name] extends AgentRuntime<infer Message> | CastMember<infer Message> ? Message : never
}[keyof Agents]

/** A request to run several agents that hand the work to each other. */
export interface CastRunRequest<Agents extends Cast = Cast>
  extends Omit<RunRequest, 'runtime' | 'agent' | 'model' | 'hooks' | 'milestones' | 'contextLimit'>,
    Pick<AgentRunSettings, 'hooks' | 'milestones' | 'contextLimit'> {
  readonly agents: Agents
  /** The agent that begins. */
  readonly start: keyof Agents & string
}

/** Whether a request is for a cast. */
export const isCastRequest = <Message>(request: RunRequest<Message> | CastRunRequest): request is CastRunRequest =>
  'agents' in request && request.agents !== undefined

const memberOf = (given: AgentRuntime | CastMember): CastMember => ('runtime' in given ? given : { runtime: given })

/**
 * The agents of a run, and which of them works now. A run of one agent has no others; in a run of a cast, each handoff
 * to one of its agents changes which one works.
 */
export class RunAgents {
  readonly #agents: ReadonlyMap<string, AgentRunSettings> | undefined
  readonly #cast: ReadonlyMap<string, CastMember>
  readonly #base: RunRequest
  #request: RunRequest

  constructor(request: RunRequest | CastRunRequest, agents?: ReadonlyMap<string, AgentRunSettings>) {
    this.#agents = agents
    if (!isCastRequest(request)) {
      this.#cast = new Map()
      this.#base = request
      this.#request = withPlace(withAgent(request, agents), agents?.get(String(request.agent).trim())?.place)
      return
    }
    const { agents: cast, start, ...rest } = request
    this.#cast = new Map(Object.entries(checkedCast(cast)).map(([name, given]) => [name.trim(), memberOf(given)]))
    const first = typeof start === 'string' ? this.#cast.get(start.trim()) : undefined
    if (first === undefined) throw new TypeError(`start names one of the agents: ${[...this.#cast.keys()].join(', ')}.`)
    this.#base = { ...rest, agent: start, runtime: first.runtime }
    this.#request = this.#for(start.trim(), first)
  }

  /** The request for the agent that works now. */
  get request(): RunRequest {
    return this.#request
  }

  /** Whether several agents take part, or one that may hand over to others. */
  get isCast(): boolean {
    return this.#cast.size > 0
  }

  /** Every agent that takes part, where there are several. */
  get names(): readonly string[] {
    return [...this.#cast.keys()]
  }

  /** The agents that the current agent may hand the work to. */
  get others(): readonly string[] {
    return [...this.#cast.keys()].filter((name) => name !== this.#request.agent.trim())
  }

  /** The workspace of one agent of a cast. A run of one agent has none beside the workspace of its conversation. */
  placeOf(agent: string): AgentWorkplace | undefined {
    const member = this.#cast.get(agent)
    return member && (member.place ?? this.#agents?.get(agent)?.place)
  }

  /** Whether a handoff is carried out in this run: a restart, or one to an agent that takes part. */
  carriesOut({ kind, targetAgent }: Pick<HandoffMetadata, 'kind' | 'targetAgent'>): boolean {
    return kind === 'context_restart' || (kind === 'agent_transfer' && this.#cast.has(targetAgent))
  }

  /** The request for an agent, as it would be if it worked now; undefined when it does not take part. */
  requestFor(agent: string): RunRequest | undefined {
    // The name as given counts too: an empty one must reach the check of the request.
    if (agent === this.#request.agent || agent === this.#request.agent.trim()) return this.#request
    const member = this.#cast.get(agent)
    return member && this.#for(agent, member)
  }

  /** Makes another agent the current one. A name that takes no part in the run changes nothing. */
  switchTo(agent: string): void {
    this.#request = this.requestFor(agent) ?? this.#request
  }

  #for(agent: string, { runtime, place: _place, ...own }: CastMember): RunRequest {
    const { resume: _, ...base } = this.#base
    // The session that a request resumes belongs to the agent that begins.
    const begins = agent === this.#base.agent.trim() ? this.#base : base
    return withAgent({ ...begins, ...defined(own), agent, runtime }, this.#agents)
  }
}

/** The cast, if every name and runtime in it can be used. @throws TypeError */
const checkedCast = (cast: Cast): Cast => {
  const names = Object.keys(cast ?? {}).map((name) => name.trim())
  if (names.length === 0) throw new TypeError('agents needs at least one agent, with its runtime.')
  if (new Set(names).size < names.length) throw new TypeError('agents has two agents of one name.')
  for (const [name, given] of Object.entries(cast))
    if (typeof memberOf(given).runtime?.start !== 'function')
      throw new TypeError(
        `The agent "${name}" needs a runtime: one of ours, or what functionRuntime makes of a function.`,
      )
  return cast
}
