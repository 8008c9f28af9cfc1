import type { Answer, Decided, Undecided } from '../../domain/decision.ts'
import { type Check, type ChecksOf, objectOf } from '../../domain/input/check.ts'
import type { Question, Subjects } from '../../ports/store/unit-of-work.ts'
import type { CommandContext } from './command-context.ts'
import type { Repeatable } from './requests.ts'

/** One property of a request: how it is checked, and whether it is part of what is asked. */
export interface Field<C> {
  readonly check: C
  /** A repetition must agree in it. Everything else is the manner of asking, in which a repetition may differ. */
  readonly isContent: boolean
  /** It is given to an agent as it is, and may set apart what somebody else wrote: redaction leaves its fences alone. */
  readonly isPrompt?: 'continuation' | 'written'
}

/** Every property of a request has its field: one that was forgotten does not compile. */
export type Fields<R> = { readonly [K in keyof R]-?: Field<ChecksOf<R>[K]> }

/** A property in which a repetition must agree. */
export const content = <C>(check: C): Field<C> => ({ check, isContent: true })

/** A text that an agent is to continue from; what it sets apart must stay apart. */
export const continuation = <C>(check: C): Field<C> => ({ check, isContent: true, isPrompt: 'continuation' })

/** A text that an agent is to begin with, as a person may have written it. */
export const prompt = <C>(check: C): Field<C> => ({ check, isContent: true, isPrompt: 'written' })

/** A property in which a repetition may differ. */
export const manner = <C>(check: C): Field<C> => ({ check, isContent: false })

/** How a checked request is carried out. */
export interface CommandPlan<Subject extends keyof Subjects, Held, A extends Answer> {
  /** The question to ask the store; it may depend on the number of conflicts so far. */
  readonly question: Question<Subject> | ((conflicts: number) => Question<Subject>)
  /** Facts that the caller already holds; deciding on them saves the read. */
  readonly held?: Held
  /** Undecided when the held facts do not say enough: then they are read. */
  readonly decide: (facts: Held | Subjects[Subject]['facts']) => Decided<A> | Undecided
  /** Puts back into a repeated answer what is kept nowhere any more and the caller has just said again. */
  readonly restore?: (answer: A) => A
}

/** One command: its name, its properties, and how it is carried out. */
export interface CommandDefinition<R extends Repeatable, Subject extends keyof Subjects, Held, A extends Answer> {
  readonly name: string
  readonly fields: Fields<R>
  /** Whether it is asked without the token of the session's holder: then the log says that it was done by hand. */
  readonly isByHand?: (request: R) => boolean
  /** Whether it makes the caller the holder of a session, and answers with the token. */
  readonly givesToken?: (request: R) => boolean
  readonly plan: (request: R, context: CommandContext) => CommandPlan<Subject, Held, A>
  /** Reads a whole request. */
  readonly check: Check<R>
}

/** Defines a command: `command<PauseRequest>()({ name, fields, plan })`. */
export const command =
  <R extends Repeatable>() =>
  <Subject extends keyof Subjects, Held, A extends Answer>(
    definition: Omit<CommandDefinition<R, Subject, Held, A>, 'check'>,
  ): CommandDefinition<R, Subject, Held, A> => {
    const fields = Object.entries<Field<Check<unknown>>>(definition.fields)
    const checks = Object.fromEntries(fields.map(([name, { check }]) => [name, check])) as unknown as ChecksOf<R>
    return { ...definition, check: objectOf<R>(checks) }
  }
