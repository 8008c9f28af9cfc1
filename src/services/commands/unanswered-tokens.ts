import type { CommandId } from '../../domain/kernel/ids.ts'
import type { HolderProof } from '../../domain/session/stored-session.ts'
import { digestOf, newHolderToken } from '../../ports/system/holder-tokens.ts'

/** Nobody retries this many commands at once. */
const MOST = 1_000

/** A new token, with its digest. */
export const newHolder = (): HolderProof => {
  const token = newHolderToken()
  return { token, digest: digestOf(token) }
}

/**
 * The tokens of commands that were sent and not answered: the store may have kept such a command, and has only the
 * digest. Whoever repeats its name here shows the same token again. In the memory of this process, and nowhere else.
 */
export class UnansweredTokens {
  readonly #tokens = new Map<CommandId, HolderProof>()

  /** The token that a command gives: the one of its try before, if that was not answered. */
  tokenFor(command: CommandId | undefined): HolderProof {
    return (command && this.#tokens.get(command)) ?? newHolder()
  }

  /** Keeps the token of a named command for as long as it is not answered. */
  async until<A>(command: CommandId | undefined, holder: HolderProof | undefined, work: () => Promise<A>): Promise<A> {
    if (command === undefined || holder === undefined) return work()
    if (this.#tokens.size >= MOST) for (const oldest of this.#tokens.keys()) if (this.#tokens.delete(oldest)) break
    this.#tokens.set(command, holder)
    const answer = await work()
    this.#tokens.delete(command)
    return answer
  }
}
