import type { Answer } from '../../domain/decision.ts'

/** The parts of an answer that a caller may pass back. */
export type IssuedKind = 'conversation' | 'session' | 'handoff' | 'monitor' | 'turn'

/** The objects that answers of this process are made of. */
const issued = new WeakMap<object, IssuedKind>()

/**
 * Marks the objects of an answer as ours, and freezes them. A caller that passes such an object back saves a read;
 * of any other object, such as a changed copy, only the id is used. An answer that is not stored for good, because the
 * transaction of the caller may yet be rolled back, is only frozen.
 */
export const issue = <A extends Answer>(answer: A, isStored: boolean): A => {
  const take = isStored ? mark : frozen
  take(answer.conversation, 'conversation')
  take(answer.session, 'session')
  take(answer.handoff, 'handoff')
  take(answer.monitor, 'monitor')
  for (const turn of answer.turns ?? []) take(turn, 'turn')
  return answer
}

/** The kind of thing that a command of this process answered with, if it was this very object. */
export const issuedKind = (value: unknown): IssuedKind | undefined =>
  typeof value === 'object' && value !== null ? issued.get(value) : undefined

const mark = (part: object | undefined, kind: IssuedKind): void => {
  if (part === undefined || issued.has(part)) return
  freeze(part)
  issued.set(part, kind)
}

const frozen = (part: object | undefined): void => {
  if (part !== undefined && !Object.isFrozen(part)) freeze(part)
}

const freeze = (value: object): void => {
  Object.freeze(value)
  for (const name of Object.keys(value)) {
    const part = (value as Readonly<Record<string, unknown>>)[name]
    if (typeof part === 'object' && part !== null && !Object.isFrozen(part)) freeze(part)
  }
}
