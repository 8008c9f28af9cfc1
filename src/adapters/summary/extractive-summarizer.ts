import { extractiveSummary } from '../../domain/summary/extractive-summary.ts'
import { EXTRACTIVE } from '../../domain/summary/thread-summary.ts'
import type { Summarizer } from '../../ports/agent/summarizer.ts'

/**
 * Writes summaries without a model: quotes the record. The default, and the fallback of every other.
 *
 * @example
 * ```ts
 * const nothing = { messages: [], leftOut: 0, subagents: [], files: [], budgetTokens: 300 }
 * const material = { task: 'Fix the flaky test', ...nothing, signal: new AbortController().signal }
 * const { text } = await extractiveSummarizer.summarize(material)
 * console.log(text.split('\n')[0]) // => Written without a model, from the record.
 * ```
 */
export const extractiveSummarizer: Summarizer = {
  name: EXTRACTIVE,
  summarize: async (material) => extractiveSummary(material),
}
