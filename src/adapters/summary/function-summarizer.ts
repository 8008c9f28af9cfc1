import type { Summarizer, SummaryMaterial } from '../../ports/agent/summarizer.ts'

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
