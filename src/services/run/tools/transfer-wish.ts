import { defined } from '../../../domain/kernel/defined.ts'
import { err, ok, type Result } from '../../../domain/kernel/result.ts'
import { inQuotes } from '../../../domain/kernel/safe-text.ts'
import type { TransferAsked } from '../../../ports/agent/agent-runtime.ts'
import type { ToolRefused } from '../../../ports/agent/run-tools.ts'
import type { RunAgents } from '../cast.ts'

/** As long as a document may be. */
const LONGEST = 1_000_000
const LONGEST_NAME = 300
const LONGEST_REASON = 2_000

/** Keeps the wish of the agent at work to hand its work to another one, until the turn that says so is recorded. */
export class TransferWish {
  readonly #agents: Pick<RunAgents, 'request' | 'others'>
  #asked: TransferAsked | undefined

  constructor(agents: Pick<RunAgents, 'request' | 'others'>) {
    this.#agents = agents
  }

  /** Takes a wish. Agents are not trusted: it is checked like everything else that they say. */
  submit(wish: TransferAsked): Result<TransferAsked, ToolRefused> {
    const asked = read(wish)
    const { others } = this.#agents
    if (asked === undefined) return err({ code: 'input.invalid', message: `Name the agent in "to"${known(others)}.` })
    if (asked.to === this.#agents.request.agent.trim())
      return err({
        code: 'handoff.same_agent',
        message: `You are ${inQuotes(asked.to)} yourself. Name another agent${known(others)}.`,
      })
    this.#asked ??= asked
    return ok(this.#asked)
  }

  /** Whether there is a wish that nobody has carried out. */
  get isOpen(): boolean {
    return this.#asked !== undefined
  }

  /** The wish, once. */
  take(): TransferAsked | undefined {
    const asked = this.#asked
    this.#asked = undefined
    return asked
  }
}

const known = (others: readonly string[]): string =>
  others.length === 0 ? '' : `: ${others.map((other) => inQuotes(other)).join(', ')}`

const textIn = (raw: unknown, longest: number): string | undefined =>
  typeof raw === 'string' && raw.trim() !== '' ? raw.slice(0, longest) : undefined

const read = ({ to, reason, document }: TransferAsked): TransferAsked | undefined => {
  const name = textIn(to, LONGEST_NAME)?.trim()
  if (name === undefined) return undefined
  return defined({ to: name, reason: textIn(reason, LONGEST_REASON), document: textIn(document, LONGEST) })
}
