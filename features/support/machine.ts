import type { ProcessFate, ProcessIdentity } from '../../src/domain/session/process-identity.ts'
import type { AgentProcesses } from '../../src/ports/agent/agent-processes.ts'

/** A machine on which agents and their runners are processes, and what befell them, in order. */
export class Machine implements AgentProcesses {
  readonly #log: string[] = []
  readonly #agents = new Map<string, number>()
  readonly #runners = new Set<string>()
  readonly #gone = new Set<string>()
  #begun = 0

  /** What happened to agents: "agent 1 begins", "agent 1 is ended". */
  get log(): readonly string[] {
    return this.#log
  }

  /** The agents that are at work. */
  get atWork(): readonly number[] {
    return [...this.#agents.values()]
  }

  /** An agent begins in a process of its own. */
  begin(): ProcessIdentity {
    this.#begun += 1
    const process = identity(`agent ${this.#begun}`, this.#begun)
    this.#agents.set(process.mark, this.#begun)
    this.#log.push(`agent ${this.#begun} begins`)
    return process
  }

  /** An agent comes to its own end. */
  leave({ mark }: ProcessIdentity): void {
    this.#agents.delete(mark)
  }

  async end({ mark }: ProcessIdentity): Promise<ProcessFate> {
    if (!this.#agents.delete(mark)) return 'gone'
    this.#log.push(`${mark} is ended`)
    return 'ended'
  }

  self(): ProcessIdentity {
    const process = identity(`runner ${crypto.randomUUID()}`, 1_000 + this.#runners.size)
    this.#runners.add(process.mark)
    return process
  }

  /** Every runner so far has ended, and a process that looks can see that. */
  killRunners(): void {
    for (const mark of this.#runners) this.#gone.add(mark)
  }

  isGone({ mark }: ProcessIdentity): boolean {
    return this.#gone.has(mark)
  }
}

const identity = (mark: string, pid: number): ProcessIdentity => ({
  ...{ host: 'machine', bootId: 'boot', pidNamespace: 'pid:[1]', userId: 1, mark },
  leader: { pid, startTime: '1' },
})
