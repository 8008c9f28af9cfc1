import type { HookResult } from './hook-result.ts'

/** The answers a hook may give at the threshold. */
const ANSWERS = ['continue', 'abort'] as const

/** The answer of a hook at the threshold. */
export type ThresholdAnswer = (typeof ANSWERS)[number]

/**
 * The decision at the threshold: the session runs on, a new one starts without a checkpoint, or the built-in
 * restart takes place.
 */
export type ThresholdOutcome = 'continue' | 'new_session' | 'built_in_restart'

/**
 * Reads the answer in a hook's output: JSON with a `decision`, or `continue` or `abort` as its last line.
 *
 * @returns the answer, or undefined when there is none
 * @example
 * ```ts
 * console.log(thresholdAnswer('{"decision": "continue"}')) // => continue
 * console.log(thresholdAnswer('Tests are red.\nabort\n')) // => abort
 * console.log(thresholdAnswer('Saved my notes.')) // => undefined
 * ```
 */
export const thresholdAnswer = (output: string): ThresholdAnswer | undefined => {
  const text = output.trim()
  const lastLine = text.slice(text.lastIndexOf('\n') + 1).trim()
  return decisionIn(text) ?? decisionIn(lastLine) ?? asAnswer(lastLine)
}

const asAnswer = (raw: unknown): ThresholdAnswer | undefined => ANSWERS.find((answer) => answer === raw)

const decisionIn = (text: string): ThresholdAnswer | undefined => {
  if (!text.startsWith('{')) return undefined
  try {
    return asAnswer((JSON.parse(text) as { readonly decision?: unknown }).decision)
  } catch {
    return undefined // a text that merely looks like JSON is no answer
  }
}

/** The vote of one hook; undefined when it has none. */
const voteOf = ({ ok, type, output }: HookResult): ThresholdAnswer | 'silent' | undefined => {
  if (!ok) return undefined
  const isMessage = type === 'slack' || type === 'discord'
  if (isMessage) return undefined
  // A command that ends well has dealt with the full window; a server that merely took the news has not.
  return thresholdAnswer(output) ?? (type === 'webhook' ? undefined : 'silent')
}

/**
 * The decision of all threshold hooks together. One `abort` outweighs every `continue`, and a `continue` outweighs those
 * that said nothing. When none was called, or none that has a say succeeded, the built-in restart takes place.
 *
 * @example
 * ```ts
 * const quiet = { ok: true, name: 'save', type: 'shell', output: '', durationMs: 12 } as const
 * console.log(thresholdOutcome([])) // => built_in_restart
 * console.log(thresholdOutcome([quiet])) // => new_session
 * console.log(thresholdOutcome([quiet, { ...quiet, output: 'continue' }])) // => continue
 * ```
 */
export const thresholdOutcome = (results: readonly HookResult[]): ThresholdOutcome => {
  const votes = results.map(voteOf).filter((vote) => vote !== undefined)
  if (votes.length === 0) return 'built_in_restart'
  return votes.includes('continue') && !votes.includes('abort') ? 'continue' : 'new_session'
}
