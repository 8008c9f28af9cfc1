import { defined } from '../../../domain/kernel/defined.ts'
import { err, ok, type Result } from '../../../domain/kernel/result.ts'
import { inQuotes } from '../../../domain/kernel/safe-text.ts'
import type { TransferAsked } from '../../../ports/agent/agent-runtime.ts'
import type { ToolRefused } from '../../../ports/agent/run-tools.ts'
import type { RunAgents } from '../cast.ts'

/** The longest document, in characters. */
const LONGEST = 1_000_000
const LONGEST_NAME = 300
const LONGEST_REASON = 2_000

/** The wish of the current agent to hand its work to another agent, until the turn with the wish is recorded. */
export class TransferWish {
  readonly #agents: Pick<RunAgents, 'request' | 'others'>
  #wish: TransferAsked | undefined

  constructor(agents: Pick<RunAgents, 'request' | 'others'>) {
    this.#agents = agents
  }

  /**
   * Checks a wish and stores it; the first one counts. Agents are not trusted, so their names and texts are checked.
   */
  submit(wish: TransferAsked): Result<TransferAsked, ToolRefused> {
    const usable = read(wish)
    const { others } = this.#agents
    if (usable === undefined)
      return err({ code: 'input.invalid', message: `Name the agent in "to"${choices(others)}.` })
    if (usable.to === this.#agents.request.agent.trim())
      return err({
        code: 'handoff.same_agent',
        message: `You are ${inQuotes(usable.to)} yourself. Name another agent${choices(others)}.`,
      })
    this.#wish ??= usable
    return ok(this.#wish)
  }

  /** Whether there is a wish that was not taken yet. */
  get isOpen(): boolean {
    return this.#wish !== undefined
  }

  /** The wish, once: the caller carries it out. */
  take(): TransferAsked | undefined {
    const wish = this.#wish
    this.#wish = undefined
    return wish
  }
}

const choices = (others: readonly string[]): string =>
  others.length === 0 ? '' : `: ${others.map((other) => inQuotes(other)).join(', ')}`

const textIn = (raw: unknown, longest: number): string | undefined =>
  typeof raw === 'string' && raw.trim() !== '' ? raw.slice(0, longest) : undefined

const read = ({ to, reason, document }: TransferAsked): TransferAsked | undefined => {
  const name = textIn(to, LONGEST_NAME)?.trim()
  if (name === undefined) return undefined
  return defined({ to: name, reason: textIn(reason, LONGEST_REASON), document: textIn(document, LONGEST) })
}
