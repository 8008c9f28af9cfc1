import { defined } from '../kernel/defined.ts'
import type { HookResult } from './hook-result.ts'

/** The answers a hook may give at the threshold. */
const ANSWERS = ['continue', 'abort'] as const

/** The answer of a hook at the threshold. */
export type ThresholdAnswer = (typeof ANSWERS)[number]

/** A hook's wish that another agent takes over. */
export interface HandoffAnswer {
  readonly to: string
  readonly reason?: string
  /** Everything that the other agent needs; the one who worked so far is asked for it if this is absent. */
  readonly document?: string
}

/**
 * The decision at the threshold: the session runs on, a new one starts without a checkpoint, the built-in restart takes
 * place, or another agent takes over.
 */
export type ThresholdOutcome = 'continue' | 'new_session' | 'built_in_restart' | { readonly handoff: HandoffAnswer }

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

const decisionIn = (text: string): ThresholdAnswer | undefined => asAnswer(recordIn(text)?.decision)

const recordIn = (text: string): Readonly<Record<string, unknown>> | undefined => {
  if (!text.startsWith('{')) return undefined
  try {
    return JSON.parse(text) as Record<string, unknown>
  } catch {
    return undefined // a text that merely looks like JSON is no answer
  }
}

/**
 * Reads the wish for a handoff in a hook's output: JSON with the decision `handoff`, and `to`.
 *
 * @example
 * ```ts
 * console.log(handoffAnswer('{"decision": "handoff", "to": "reviewer"}')?.to) // => reviewer
 * ```
 */
export const handoffAnswer = (output: string): HandoffAnswer | undefined => {
  const text = output.trim()
  const { decision, to, reason, document } =
    recordIn(text) ?? recordIn(text.slice(text.lastIndexOf('\n') + 1).trim()) ?? {}
  if (decision !== 'handoff' || typeof to !== 'string' || to.trim() === '') return undefined
  return defined({ to: to.trim(), reason: words(reason), document: words(document) })
}

const words = (raw: unknown): string | undefined => (typeof raw === 'string' && raw.trim() !== '' ? raw : undefined)

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
 * that said nothing. A hook that names another agent outweighs them all. When none was called, or none that has a say succeeded, the built-in restart takes place.
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
  const handoff = results
    .map((result) => (result.ok ? handoffAnswer(result.output) : undefined))
    .find((one) => one !== undefined)
  if (handoff !== undefined) return { handoff }
  const votes = results.map(voteOf).filter((vote) => vote !== undefined)
  if (votes.length === 0) return 'built_in_restart'
  return votes.includes('continue') && !votes.includes('abort') ? 'continue' : 'new_session'
}
