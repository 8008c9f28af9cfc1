/** An answer, or the reason there is none. Expected no's travel as values, never as exceptions. */
export type Result<Value, Problem> = Ok<Value> | Err<Problem>

/** The answer. */
export interface Ok<Value> {
  readonly ok: true
  readonly value: Value
}

/** The reason there is no answer. */
export interface Err<Problem> {
  readonly ok: false
  readonly error: Problem
}

/** Wraps an answer. */
export const ok = <Value>(value: Value): Ok<Value> => ({ ok: true, value })

/** Wraps a reason. */
export const err = <Problem>(error: Problem): Err<Problem> => ({ ok: false, error })
