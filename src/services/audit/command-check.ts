import type { SealedEntry } from '../../domain/audit/audit-chain.ts'
import type { AuditProblem } from '../../domain/audit/audit-verdict.ts'
import { commandSeal, isTokenRemoved, type KeptCommand, matchesSeal } from '../../domain/audit/command-seal.ts'
import type { Sha256 } from '../../domain/kernel/digest.ts'
import type { CommandId, ConversationId } from '../../domain/kernel/ids.ts'
import type { Store } from '../../ports/store/store.ts'

interface Caused {
  readonly commandId: CommandId
  readonly position: number
  readonly receipt?: string
}

/**
 * Compares what is remembered of commands with the seals in their entries, some at a time.
 *
 * A forgotten command is no problem: old commands are forgotten. Its id may then have been used again, so a row must
 * match the last entry that its command began.
 */
export class CommandCheck {
  readonly #store: Store
  readonly #conversation: ConversationId
  readonly #sha256: Sha256
  readonly #bad = new Map<CommandId, AuditProblem>()
  /** Rows that no entry names, by their seals: those of commands that logged nothing, and any whose id was changed. */
  #unnamed: ReadonlyMap<string, CommandId> | undefined
  #renamed: AuditProblem | undefined
  #unchecked = 0
  #waiting: Caused[] = []
  #last: CommandId | undefined

  constructor(store: Store, conversation: ConversationId, sha256: Sha256) {
    this.#store = store
    this.#conversation = conversation
    this.#sha256 = sha256
  }

  /** Takes the next entry, with the seal it holds if it is the first of its command. */
  take({ commandId, position }: SealedEntry, receipt: string | undefined): void {
    if (receipt !== undefined || commandId !== this.#last)
      this.#waiting.push({ commandId, position, ...(receipt !== undefined && { receipt }) })
    this.#last = commandId
  }

  /** Reads what is remembered of the commands taken since. */
  async look(): Promise<void> {
    const waiting = this.#waiting
    this.#waiting = []
    if (waiting.length === 0) return
    this.#unnamed ??= await this.#sealsOfUnnamed()
    const ids = [...new Set(waiting.map(({ commandId }) => commandId))]
    const commands = new Map((await this.#store.audit.findCommands(ids)).map((command) => [command.id, command]))
    for (const caused of waiting) {
      const { commandId, position } = caused
      const command = commands.get(commandId)
      const detail = `What is remembered of command ${commandId} is not what entry ${position} was written with.`
      if (command === undefined) this.#lookForRenamed(caused)
      if (command === undefined || this.#matches(command, caused)) this.#bad.delete(commandId)
      else if (isTokenRemoved(command)) this.#unchecked += 1
      else this.#bad.set(commandId, { class: 'state_differs', position, detail })
    }
  }

  /** The first command that is not remembered as it was. */
  problem(): AuditProblem | undefined {
    const [first] = this.#bad.values()
    return first ?? this.#renamed
  }

  /** How many receipts cannot be compared, because a migration took a token out of them. */
  get unchecked(): number {
    return this.#unchecked
  }

  async #sealsOfUnnamed(): Promise<ReadonlyMap<string, CommandId>> {
    const rows = await this.#store.audit.listUnnamedCommands(this.#conversation)
    return new Map(rows.map((row) => [commandSeal(row, this.#sha256), row.id]))
  }

  /** A row that is not there was forgotten; or it is there under another id, and its seal says whose it was. */
  #lookForRenamed({ commandId, position, receipt }: Caused): void {
    const under = receipt && this.#unnamed?.get(receipt.split('@')[0] ?? '')
    if (under === undefined || under === '') return
    const detail = `What is remembered of command ${commandId}, which wrote entry ${position}, stands under the id ${under}.`
    this.#renamed ??= { class: 'state_differs', position, detail }
  }

  /** A command that wrote to several logs is sealed in one of them. */
  #matches(command: KeptCommand, { receipt }: Caused): boolean {
    if (receipt === undefined) return command.conversationId !== this.#conversation
    return matchesSeal(command, receipt, this.#sha256)
  }
}
