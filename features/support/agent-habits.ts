import type { AgentRuntime, Launch, RunningAgent, RuntimeStep } from '../../src/ports/agent/agent-runtime.ts'
import type { ScriptedMessage } from '../../src/testing/script.ts'
import type { ScriptedRuntime } from '../../src/testing/scripted-runtime.ts'
import type { Machine } from './machine.ts'

type Step = RuntimeStep<ScriptedMessage>

/** What is special about an agent beside its script. */
export interface Habits {
  /** Each launch of it is a process there. */
  readonly machine?: Machine
  /** What each of its requests costs, which it says with the answer. */
  readonly requestUsd?: number
  /** It says nothing more after so many answers. */
  readonly silentAfter?: number
}

/** The same runtime, whose agents have habits. */
export const withHabits = (runtime: ScriptedRuntime, habits: Habits): AgentRuntime<ScriptedMessage> => {
  const { backend, takesSessionId, takesTools, reportsCost, resume } = runtime
  return {
    backend,
    takesSessionId,
    takesTools,
    reportsCost: reportsCost || habits.requestUsd !== undefined,
    has: (session) => runtime.has(session),
    ask: (question) => runtime.ask(question),
    start: (launch) => acting(runtime.start(launch), launch, habits),
    ...(resume && { resume: (launch) => acting(resume(launch), launch, habits) }),
  }
}

const acting = (
  agent: RunningAgent<ScriptedMessage>,
  launch: Launch,
  habits: Habits,
): RunningAgent<ScriptedMessage> => ({ ...agent, steps: inProcess(agent.steps, launch, habits) })

async function* inProcess(steps: AsyncIterable<Step>, launch: Launch, habits: Habits): AsyncGenerator<Step> {
  const process = habits.machine?.begin()
  if (process !== undefined) await launch.onProcess?.(process)
  try {
    yield* saying(steps, launch.signal, habits)
  } finally {
    if (process !== undefined) habits.machine?.leave(process)
  }
}

const isAnswer = ({ texts }: Step): boolean => texts.some(({ role }) => role === 'assistant')

async function* saying(steps: AsyncIterable<Step>, signal: AbortSignal, habits: Habits): AsyncGenerator<Step> {
  const { requestUsd, silentAfter = Number.POSITIVE_INFINITY } = habits
  let answers = 0
  for await (const step of steps) {
    if (isAnswer(step)) answers += 1
    if (answers > silentAfter) return await silence(signal)
    const totals = { inputTokens: 0, outputTokens: 0, requests: answers, costUsd: answers * (requestUsd ?? 0) }
    yield requestUsd !== undefined && isAnswer(step) ? { ...step, totals } : step
  }
}

/** Until somebody ends it. */
const silence = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve()
    signal.addEventListener('abort', () => resolve(), { once: true })
  })
