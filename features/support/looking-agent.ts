import type { Launch, RunningAgent, RuntimeStep } from '../../src/ports/agent/agent-runtime.ts'
import type { ToolsEndpoint } from '../../src/ports/agent/run-tools.ts'
import type { ScriptedMessage } from '../../src/testing/script.ts'
import { lookBack } from '../../test/support/tools-client.ts'

/** A question of an agent, which may be about the first call of one of its tools. */
export type LooksUp = { readonly callOf: string } | { readonly words: string }

/** An agent that calls look_back for real whenever its script uses it, if it was offered. */
export class LookingAgent {
  readonly #question: LooksUp | undefined
  readonly #calls = new Map<string, string>()
  readonly #offered: ToolsEndpoint[] = []

  constructor(question: LooksUp | undefined) {
    this.#question = question
  }

  /** Where it was offered tools, launch by launch. */
  get offered(): readonly ToolsEndpoint[] {
    return this.#offered
  }

  /** The same agent at work, with the answers of the tool in place of its script's. */
  at(agent: RunningAgent<ScriptedMessage>, { tools }: Launch): RunningAgent<ScriptedMessage> {
    if (tools !== undefined) this.#offered.push(tools)
    return { ...agent, steps: this.#answering(agent.steps, tools) }
  }

  async *#answering(
    steps: AsyncIterable<RuntimeStep<ScriptedMessage>>,
    tools: ToolsEndpoint | undefined,
  ): AsyncGenerator<RuntimeStep<ScriptedMessage>> {
    const asking = new Set<string>()
    for await (const step of steps) {
      for (const event of step.events) {
        if (event.type !== 'tool_call' || event.callId === undefined) continue
        const { toolName, callId } = event
        if (toolName === 'look_back') asking.add(callId)
        else if (!this.#calls.has(toolName)) this.#calls.set(toolName, callId)
      }
      const texts = await Promise.all(
        step.texts.map(async (said) =>
          said.role === 'tool' && asking.has(said.id ?? '') ? { ...said, text: await this.#ask(tools) } : said,
        ),
      )
      yield { ...step, texts }
    }
  }

  async #ask(tools: ToolsEndpoint | undefined): Promise<string> {
    if (tools === undefined || this.#question === undefined) return 'There is no such tool.'
    const question = this.#question
    const asked = 'words' in question ? question : { call: `[call:${this.#calls.get(question.callOf)}]` }
    return (await lookBack(tools, asked)).text
  }
}
