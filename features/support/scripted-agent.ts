import type { Workspace } from '../../src/domain/conversation/conversation.ts'
import type { Launch, RunningAgent, RuntimeStep } from '../../src/ports/agent/agent-runtime.ts'
import type { ToolsEndpoint } from '../../src/ports/agent/run-tools.ts'
import type { Script, ScriptedMessage, ScriptedTurn, ScriptedWindow } from '../../src/testing/script.ts'
import { ScriptedRuntime } from '../../src/testing/scripted-runtime.ts'
import { LookingAgent, type LooksUp } from './looking-agent.ts'
import { listed } from './parameter-types.ts'

/**
 * What an agent does in a window, as scenarios write it: "10 % read_file, compaction, 90 % edit_file + run_tests". Each
 * turn says how full the window is once the first of its tools has answered. "rest" after a turn: it waits for the next
 * prompt. "overflow" at the end: the next request did not fit.
 */
export const windowOf = (words: string, tokens: number): ScriptedWindow => {
  const parts = listed(words)
  const turns = parts.flatMap((part, index) =>
    turnOf(part, tokens, { afterCompaction: parts[index - 1] === 'compaction', rests: parts[index + 1] === 'rest' }),
  )
  const hasOverflowed = parts.at(-1) === 'overflow'
  return { turns, ...(hasOverflowed && { end: { type: 'overflow', message: 'prompt is too long' } }) }
}

/** An answer of two characters is counted as one token. */
const ANSWER_TOKENS = 1

const turnOf = (
  part: string,
  tokens: number,
  manner: Pick<ScriptedTurn, 'afterCompaction' | 'rests'>,
): readonly ScriptedTurn[] => {
  const [, percent, names = ''] = /^([\d.]+) %(.*)$/.exec(part) ?? []
  if (percent === undefined) return []
  const tools = listed(names, '+')
  const answers = tools.length > 0 ? ANSWER_TOKENS : 0
  const promptTokens = Math.round((tokens * Number(percent)) / 100) - answers
  return [{ text: `My window is ${percent} % full.`, promptTokens, tools, ...manner }]
}

/** A checkpoint that cites calls by the names of their tools; the prompt says which ids those have. */
export const citing =
  (text: string) =>
  (prompt: string): string =>
    text.replaceAll(/\[call:(\w+)\]/g, (whole, tool: string) => {
      const callId = prompt.match(new RegExp(`^- (\\S+) ${tool}(?::.*)?$`, 'm'))?.[1]
      return callId === undefined ? whole : `[call:${callId}]`
    })

/** A scripted agent that says where it works and what it was told, remembers which of its tools have answered, and may be stubborn. */
export class ScriptedAgent extends ScriptedRuntime {
  readonly #isStubborn: boolean
  readonly #looking: LookingAgent
  readonly #answered: string[]

  constructor(
    script: Script,
    { isStubborn = false, looksUp }: { readonly isStubborn?: boolean; readonly looksUp?: LooksUp | undefined } = {},
  ) {
    const [called, answered]: [string[], string[]] = [[], []]
    const onStep = ({ events, texts }: RuntimeStep<ScriptedMessage>): void => {
      called.push(...events.flatMap((event) => (event.type === 'tool_call' ? [event.toolName] : [])))
      answered.push(...called.splice(0, texts.filter(({ role }) => role === 'tool').length))
    }
    super({ ...script, onStep })
    this.#isStubborn = isStubborn
    this.#looking = new LookingAgent(looksUp)
    this.#answered = answered
  }

  /** The tools that were not cut off. */
  get answered(): readonly string[] {
    return this.#answered
  }

  /** Where it was offered tools. */
  get offered(): readonly ToolsEndpoint[] {
    return this.#looking.offered
  }

  override start(launch: Launch): RunningAgent<ScriptedMessage> {
    const { steps, interrupt, ...more } = this.#looking.at(super.start(launch), launch)
    return { ...more, steps: answering(steps, launch), interrupt: this.#isStubborn ? async () => {} : interrupt }
  }
}

/** What it says begins with where it works, and its first answer ends with what it was told. */
async function* answering(
  steps: AsyncIterable<RuntimeStep<ScriptedMessage>>,
  { workspace, prompt }: Launch,
): AsyncGenerator<RuntimeStep<ScriptedMessage>> {
  const where = workspace === undefined ? '' : `I work in ${placeOf(workspace)}. `
  let told = ` I was told: ${prompt}`
  for await (const step of steps) {
    const texts = step.texts.map((said) => {
      if (said.role !== 'assistant') return said
      const text = `${where}${said.text}${told}`
      told = ''
      return { ...said, text }
    })
    yield { ...step, texts }
  }
}

const placeOf = ({ workingDirectory, worktreePath, branch }: Workspace): string =>
  `${workingDirectory}, in the worktree ${worktreePath} on ${branch}`
