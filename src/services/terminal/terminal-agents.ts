import type { Conversation } from '../../domain/conversation/conversation.ts'
import type { TerminalAgent } from '../../ports/agent/vendor.ts'
import { externalKey } from './followed-session.ts'

/** The agents whose terminal sessions are followed. */
export class TerminalAgents {
  readonly #agents: ReadonlyMap<string, TerminalAgent>

  constructor(agents: readonly TerminalAgent[]) {
    this.#agents = new Map(agents.map((agent) => [agent.name, agent]))
  }

  /** @throws TypeError when there is no such agent: an event or a file that names another one is refused before */
  named(name: string): TerminalAgent {
    const agent = this.#agents.get(name)
    if (agent === undefined) throw new TypeError(`There is no terminal agent "${name}"`)
    return agent
  }

  /** The agent whose sessions are kept as this one. */
  keptAs(agentName: string): TerminalAgent | undefined {
    return [...this.#agents.values()].find((agent) => agent.agentName === agentName)
  }

  /** Stands for the agent of a session that nobody can tell any more. */
  get usual(): TerminalAgent {
    const [first] = this.#agents.values()
    if (first === undefined) throw new TypeError('There are no terminal agents')
    return first
  }

  /** Whether a conversation was opened for a terminal session, under its name. */
  opened({ externalKey: key }: Pick<Conversation, 'externalKey'>): boolean {
    return [...this.#agents.keys()].some((name) => key?.startsWith(externalKey(name, '')))
  }
}
