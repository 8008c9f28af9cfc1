import assert from 'node:assert/strict'
import { type CommandId, commandId } from '../../src/domain/kernel/ids.ts'
import type { Result } from '../../src/domain/kernel/result.ts'
import { describeRefusal, type Refusal } from '../../src/domain/refusal.ts'
import { StoreFailure } from '../../src/ports/store/store-failure.ts'
import type { IdGenerator } from '../../src/ports/system/system.ts'

/** A command, to be sent under an id. */
export type Command<T> = (commandId: CommandId) => Promise<Result<T, Refusal>>

/** Puts what a command answered into the caller's hands. */
export type Keep<T> = (answer: T) => void

/**
 * Sends commands and remembers how they were refused or broke, and nothing of what they answered.
 *
 * A no that no step has looked at is an error: otherwise a scenario could go on as if it had been a yes.
 */
export class Attempts {
  readonly #ids: IdGenerator
  readonly #look: () => Promise<readonly unknown[]>
  #before: readonly unknown[] = []
  #refusals: readonly Refusal[] = []
  #failure: StoreFailure | undefined
  #unheard = false
  #last: { readonly id: CommandId; readonly send: () => Promise<Refusal | undefined> } | undefined
  #refused: (() => Promise<Refusal | undefined>) | undefined

  /** @param look reads everything the scenario's conversations have in the store */
  constructor(ids: IdGenerator, look: () => Promise<readonly unknown[]>) {
    this.#ids = ids
    this.#look = look
  }

  /** Sends a command under a new id, or under the one given. */
  async ask<T>(command: Command<T>, keep: Keep<T> = () => {}, id = this.#newId()): Promise<void> {
    this.#last = { id, send: () => carryOut(command, keep, id) }
    await this.#attempt([this.#last.send])
  }

  /** Sends different commands at the same moment. */
  race<T>(commands: readonly Command<T>[], keep: Keep<T> = () => {}): Promise<void> {
    return this.#attempt(commands.map((command) => () => carryOut(command, keep, this.#newId())))
  }

  /** Sends the last command once more, as a caller does that has got no reply. */
  again(): Promise<void> {
    return this.#attempt([found(this.#last).send])
  }

  /** Sends the last command that was refused once more. */
  refusedAgain(): Promise<void> {
    return this.#attempt([found(this.#refused)])
  }

  /** The id of the last command. */
  get lastId(): CommandId {
    return found(this.#last).id
  }

  /** What those were told who got a no. */
  get refusals(): readonly Refusal[] {
    this.#unheard = false
    return this.#refusals
  }

  /** The one no there was, reason by reason. */
  get reasons(): readonly Refusal[] {
    const { refusals } = this
    assert.equal(refusals.length, 1, 'nothing was refused')
    return refusals.flatMap((refusal) => (refusal.code === 'several' ? refusal.reasons : [refusal]))
  }

  /** How the store broke. */
  get failure(): StoreFailure {
    this.#unheard = false
    return found(this.#failure)
  }

  /** Everything that was stored before the last attempt. */
  get before(): readonly unknown[] {
    return this.#before
  }

  /** @throws Error when something went wrong and no step expected it */
  mustBeHeard(): void {
    if (!this.#unheard) return
    const problems = [...this.#refusals.map(describeRefusal), ...(this.#failure ? [this.#failure.message] : [])]
    throw new Error(`No step expected this: ${problems.join(' ')}`)
  }

  async #attempt(sends: readonly (() => Promise<Refusal | undefined>)[]): Promise<void> {
    this.mustBeHeard()
    this.#before = await this.#look()
    this.#failure = undefined
    try {
      const told = await Promise.all(sends.map((send) => send()))
      this.#refusals = told.filter((refusal) => refusal !== undefined)
    } catch (error) {
      if (!(error instanceof StoreFailure)) throw error
      this.#refusals = []
      this.#failure = error
    }
    if (this.#refusals.length > 0) this.#refused = sends[0]
    this.#unheard = this.#refusals.length > 0 || this.#failure !== undefined
  }

  #newId(): CommandId {
    return commandId(this.#ids.next())
  }
}

const carryOut = async <T>(command: Command<T>, keep: Keep<T>, id: CommandId): Promise<Refusal | undefined> => {
  const result = await command(id)
  if (!result.ok) return result.error
  keep(result.value)
  return undefined
}

const found = <T>(value: T | undefined): T => {
  assert.ok(value !== undefined, 'there was none')
  return value
}
