import type { HookResult } from './hook-result.ts'

/** A server's answer is for us, not for the agent. */
const SPEAKS = { shell: true, function: true, webhook: false, slack: false, discord: false } as const

/**
 * The prompt with what session-start hooks had to say before it, in their order. Those that failed say nothing.
 *
 * @example
 * ```ts
 * const notes = { ok: true, name: 'notes', type: 'shell', output: 'Use pnpm here.\n', durationMs: 8 } as const
 * console.log(promptAfterHooks('Fix the flaky test', [notes]).split('\n')) // => [ 'Use pnpm here.', '', 'Fix the flaky test' ]
 * ```
 */
export const promptAfterHooks = (prompt: string, results: readonly HookResult[]): string =>
  [...wordsOfHooks(results), prompt].filter((text) => text !== '').join('\n\n')

/** The output of session-start hooks, in their order; undefined when there is none. */
export const hookContextOf = (results: readonly HookResult[]): string | undefined =>
  wordsOfHooks(results).join('\n\n') || undefined

const wordsOfHooks = (results: readonly HookResult[]): readonly string[] =>
  results
    .filter(({ ok, type }) => ok && SPEAKS[type])
    .map(({ output }) => output.trim())
    .filter((text) => text !== '')
