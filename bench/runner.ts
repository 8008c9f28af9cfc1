import { systemClock } from '../src/entry/container.ts'
import { createBatonpass, functionRuntime, unwrap } from '../src/entry/index.ts'
import { MemoryStore } from '../src/entry/memory.ts'
import type { Store } from '../src/entry/ports.ts'
import type { Size } from './sizes.ts'
import { median } from './statistics.ts'

/** What a message costs on its way through the runner, in microseconds. */
export interface RunnerCost {
  readonly store: 'memory' | 'postgres'
  readonly messages: number
  /** Iterating the bare runtime. */
  readonly bare: number
  /** Iterating the same runtime through a run: every turn recorded before its message is passed on. */
  readonly run: number
  /** Recording the same turns by hand, spread over the messages: what of it is the store's. */
  readonly recording: number
  readonly rounds: readonly number[]
}

const SIZES = {
  quick: { memory: 500, postgres: 150, rounds: 3 },
  full: { memory: 2_000, postgres: 500, rounds: 7 },
} as const

interface Said {
  readonly turn: number
  readonly isAnswer: boolean
  readonly text: string
}

/** Each turn is an answer with a tool call, and the tool's result: two messages, as agents send them. */
const agent = (turns: number) =>
  async function* (): AsyncGenerator<Said> {
    for (let turn = 1; turn <= turns; turn += 1) {
      yield { turn, isAnswer: true, text: 'I will run the tests again, and look at the third one. '.repeat(4) }
      yield { turn, isAnswer: false, text: 'ok 1\nok 2\nnot ok 3 - expected 4 to be 5\n'.repeat(10) }
    }
  }

const runtimeOf = (turns: number) =>
  functionRuntime<Said>({
    backend: 'bench',
    start: agent(turns),
    read: ({ turn, isAnswer, text }) =>
      isAnswer
        ? {
            providerSessionId: 'bench',
            events: [
              { type: 'request', key: `m${turn}`, promptTokens: 1_000 + turn, outputTokens: 60 },
              { type: 'tool_call', callId: `c${turn}`, toolName: 'run_tests' },
            ],
            texts: [{ role: 'assistant', text }],
          }
        : { events: [{ type: 'appended', characters: text.length }], texts: [{ role: 'tool', text }] },
  })

const perMessage = async (turns: number, work: () => Promise<void>): Promise<number> => {
  const began = performance.now()
  await work()
  return ((performance.now() - began) * 1_000) / (2 * turns)
}

/** What a run adds to each message, on a store. The first round warms up. */
const measureOn = async (name: RunnerCost['store'], store: Store, size: Size): Promise<RunnerCost> => {
  const { [name]: turns, rounds } = SIZES[size]
  const batonpass = await createBatonpass({ store })
  const costs: { bare: number; run: number; recording: number }[] = []
  for (let round = 0; round <= rounds; round += 1) {
    const bare = await perMessage(turns, async () => {
      for await (const _ of agent(turns)());
    })
    const run = await perMessage(turns, async () => {
      const ran = await batonpass.run({ runtime: runtimeOf(turns), agent: 'bench', prompt: 'Go' }).finish()
      if (ran.turns !== turns) throw new Error(`${ran.turns} turns were recorded of ${turns}`)
    })
    const recording = await perMessage(turns, () => record(batonpass, turns))
    if (round > 0) costs.push({ bare, run, recording })
  }
  return {
    store: name,
    messages: 2 * turns,
    bare: median(costs.map(({ bare }) => bare)),
    run: median(costs.map(({ run }) => run)),
    recording: median(costs.map(({ recording }) => recording)),
    rounds: costs.map(({ run }) => run),
  }
}

const record = async ({ handoffs }: Awaited<ReturnType<typeof createBatonpass>>, turns: number): Promise<void> => {
  const { conversation } = unwrap(await handoffs.openConversation({ originalTask: 'Go' }))
  const about = { conversationId: conversation.id, agentName: 'bench', backend: 'bench', prompt: 'Go' }
  let working = unwrap(await handoffs.startSession(about))
  let before: string | undefined
  for await (const { turn, isAnswer, text } of agent(turns)()) {
    if (isAnswer) {
      const toolCalls = [{ callId: `c${turn}`, toolName: 'run_tests' }]
      const answer = { role: 'assistant' as const, text, toolCalls }
      const messages = before === undefined ? [answer] : [{ role: 'tool' as const, text: before }, answer]
      const usage = { state: 'metered' as const, promptTokens: 1_000 + turn, outputTokens: 60 }
      working = { ...working, ...unwrap(await handoffs.recordTurn({ ...working, messages, usage })) }
    } else before = text
  }
}

/** What the runner costs per message, in memory and on a server. */
export const measureRunner = async (postgres: Store, size: Size): Promise<readonly RunnerCost[]> => [
  await measureOn('memory', new MemoryStore({ clock: systemClock }), size),
  await measureOn('postgres', postgres, size),
]
