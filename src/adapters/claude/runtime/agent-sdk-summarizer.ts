import { SUMMARY_SYSTEM_PROMPT, summaryPrompt } from '../../../domain/summary/summary-prompt.ts'
import type { RunningAgent, RuntimeStep } from '../../../ports/agent/agent-runtime.ts'
import type { Summarizer } from '../../../ports/agent/summarizer.ts'
import type { AgentSdkRuntimeOptions } from './agent-sdk-runtime.ts'
import { type SdkMessage, type SdkPrompt, sdkPrompt } from './sdk-module.ts'
import { singleOptions } from './sdk-options.ts'
import { sdkRuns } from './sdk-runs.ts'
import { replyOf } from './session-reply.ts'

/** Options of the summarizer; everything has a default. */
export type AgentSdkSummarizerOptions = Pick<AgentSdkRuntimeOptions, 'sdk' | 'model' | 'options'>

/** The name until the SDK says which model answers. */
const UNNAMED = 'claude'

/**
 * Writes summaries with one request of the Claude Agent SDK, an optional package. The request has no tool, reads no
 * settings and no memory file, belongs to no session and leaves none.
 *
 * @example
 * ```ts
 * const summarizer = agentSdkSummarizer({ model: 'claude-haiku-4-5' })
 * console.log(summarizer.name) // => claude-haiku-4-5
 * ```
 */
export const agentSdkSummarizer = ({ sdk, ...defaults }: AgentSdkSummarizerOptions = {}): Summarizer => {
  const run = sdkRuns(sdk, false)
  const name = defaults.model ?? UNNAMED
  return {
    name,
    summarize: async (material) => {
      const prompt: SdkPrompt = {
        ...sdkPrompt(summaryPrompt(material, globalThis.crypto.randomUUID())),
        client_composed: true,
      }
      const heard: string[] = []
      const agent = run(prompt, singleOptions(defaults, SUMMARY_SYSTEM_PROMPT, material.signal), material)
      const { text } = await replyOf(listened(agent, heard))
      return { text, modelUsed: heard.at(-1) ?? name }
    },
  }
}

/** The same agent, with the models that answer put into a list. */
const listened = (agent: RunningAgent<SdkMessage>, models: string[]): RunningAgent<SdkMessage> => ({
  interrupt: () => agent.interrupt(),
  steps: (async function* (): AsyncGenerator<RuntimeStep<SdkMessage>, void> {
    for await (const step of agent.steps) {
      models.push(...step.events.flatMap((event) => (event.type === 'model' ? [event.model] : [])))
      yield step
    }
  })(),
})
