import { systemClock } from '../../src/entry/container.ts'
import { createBatonpass, functionRuntime } from '../../src/entry/index.ts'
import { MemoryStore } from '../../src/entry/memory.ts'
import type { Launch } from '../../src/entry/ports.ts'

/** What was seen over many runs. */
export interface LandingFigures {
  restarts: number
  /** Restarts that began because the agent had stopped by itself. */
  landed: number
  /** Restarts at which an answer was being written, a tool was at work, or a unit of work was half done. */
  cutAnswers: number
  cutTools: number
  cutUnits: number
  turns: number
}

/** Longer than the runner looks ahead, as real answers are. */
const ANSWER_MS = 60
const TOOL_MS = 5
const WINDOW = 1_000
const RUNS_AT_ONCE = 50

type Said = {
  readonly tokens?: number
  readonly text: string
  readonly role: 'assistant' | 'tool'
  readonly call?: string
}

/** The same numbers for the same seed. */
const dice = (seed: number) => {
  let state = seed + 1
  return (least: number, most: number): number => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0
    return least + ((state >>> 8) % (most - least + 1))
  }
}

/**
 * One piece of work: units of 2 to 6 steps, each step an answer and a tool, each adding 15 to 45 of 1,000 tokens. It works
 * ahead, as a process does. Told to land, it finishes the unit at hand and stops.
 */
const agentOf = (seed: number, figures: LandingFigures, takesInput: boolean) => {
  const roll = dice(seed)
  const units = Array.from({ length: 12 }, () => roll(2, 6))
  let [unit, step, calls] = [0, 0, 0]
  let isTold = false
  const start = async function* ({ signal }: Launch): AsyncGenerator<Said> {
    let tokens = 100
    isTold = false
    for (;;) {
      const isDone = unit === units.length
      const hasLanded = isTold && step === 0 && !isDone
      if (!(await passes(ANSWER_MS, signal))) return cut('cutAnswers')
      tokens += roll(15, 45)
      figures.turns += 1
      if (isDone || hasLanded) {
        if (hasLanded) figures.landed += 1
        return yield { role: 'assistant', tokens, text: hasLanded ? 'Saved.\n[landed]' : 'All is done.' }
      }
      calls += 1
      yield { role: 'assistant', tokens, text: `Step ${step + 1} of unit ${unit + 1}.`, call: `call-${calls}` }
      if (!(await passes(TOOL_MS, signal))) return cut('cutTools')
      step += 1
      if (step === units[unit]) [unit, step] = [unit + 1, 0]
      yield { role: 'tool', text: 'ok' }
    }
  }
  const cut = (what: 'cutAnswers' | 'cutTools'): void => {
    figures[what] += 1
    if (step > 0) figures.cutUnits += 1
  }
  return functionRuntime<Said>({
    backend: 'simulated',
    worksAhead: true,
    start: (launch) => ahead(start(launch)),
    read: ({ tokens, text, role, call }) => ({
      events: [
        ...(tokens === undefined
          ? []
          : ([
              { type: 'window', tokens: WINDOW },
              {
                type: 'request',
                key: `${seed}-${figures.restarts}-${tokens}-${calls}`,
                promptTokens: tokens,
                outputTokens: 0,
              },
            ] as const)),
        ...(call === undefined ? [] : [{ type: 'tool_call', callId: call, toolName: 'edit' } as const]),
      ],
      texts: [{ role, text }],
    }),
    ask: async () => ({ text: '<checkpoint>Where it stands.</checkpoint>' }),
    ...(takesInput && {
      tell: async () => {
        isTold = true
      },
    }),
  })
}

/** Whether so much time has passed before it was interrupted. */
const passes = (milliseconds: number, signal: AbortSignal): Promise<boolean> =>
  new Promise((resolve) => {
    const over = (hasPassed: boolean): void => {
      clearTimeout(timer)
      signal.removeEventListener('abort', interrupted)
      resolve(hasPassed)
    }
    const interrupted = (): void => over(false)
    const timer = setTimeout(() => over(true), milliseconds)
    signal.addEventListener('abort', interrupted, { once: true })
    if (signal.aborted) interrupted()
  })

/** Works on while nobody asks: the next thing is begun as soon as the last was said. */
async function* ahead<T>(source: AsyncGenerator<T>): AsyncGenerator<T> {
  let next = source.next()
  for (;;) {
    const { done, value } = await next
    if (done === true) return
    next = source.next()
    yield value
  }
}

const figuresOf = async (runs: number, takesInput: boolean): Promise<LandingFigures> => {
  const figures = { restarts: 0, landed: 0, cutAnswers: 0, cutTools: 0, cutUnits: 0, turns: 0 }
  await using batonpass = await createBatonpass({ store: new MemoryStore({ clock: systemClock }) })
  const seeds = Array.from({ length: runs }, (_, seed) => seed).values()
  const worker = async (): Promise<void> => {
    for (const seed of seeds) {
      const runtime = agentOf(seed, figures, takesInput)
      const about = { agent: 'simulated', prompt: `Piece of work ${seed}`, policy: 'auto' } as const
      const { outcome, restarts } = await batonpass.run({ runtime, ...about, budget: { maxRestarts: 9 } }).finish()
      if (outcome !== 'completed') throw new Error(`Piece of work ${seed} ended ${outcome}`)
      figures.restarts += restarts
    }
  }
  await Promise.all(Array.from({ length: RUNS_AT_ONCE }, worker))
  return figures
}

/** The same pieces of work, by agents that cannot be told anything and by agents that can. */
export const compareLandings = async (runs: number) => ({
  without: await figuresOf(runs, false),
  withLanding: await figuresOf(runs, true),
})
