import { extractiveSummary } from '../../domain/summary/extractive-summary.ts'
import { EXTRACTIVE } from '../../domain/summary/thread-summary.ts'
import type { Summarizer, SummaryMaterial } from '../../ports/agent/summarizer.ts'

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

/**
 * Makes a summarizer of a function, such as a call of any model. It answers in markdown, with the headings `Objective`,
 * `Progress`, `Next Steps`, `Blockers` and `Key files`. The texts of the material are data: fence them in a prompt.
 *
 * @param name the model, for people and records
 * @example
 * ```ts
 * const summarizer = functionSummarizer('my-model', async ({ task }) => `## Objective\n${task}\n## Progress\n…`)
 * console.log(summarizer.name) // => my-model
 * ```
 */
export const functionSummarizer = (
  name: string,
  write: (material: SummaryMaterial) => Promise<string>,
): Summarizer => ({
  name,
  summarize: async (material) => ({ text: await write(material), modelUsed: name }),
})
