import { defined } from '../../../domain/kernel/defined.ts'
import { addTotals, NO_TOTALS } from '../../../domain/run/run-summary.ts'
import type { UsageTotals } from '../../../domain/window/usage-reading.ts'
import type { AgentRuntime, RunningAgent } from '../../../ports/agent/agent-runtime.ts'
import type { RecordedText } from '../../../ports/agent/window-reader.ts'

/** A listener for the messages and the usage of an agent, while it works. */
export interface Listener {
  readonly onTexts: (texts: readonly RecordedText[]) => void
  /** The usage of all launches so far, as far as the runtime has said. */
  readonly onTotals: (totals: UsageTotals) => void
}

/** The same runtime, with somebody who listens. */
export const withListener = (runtime: AgentRuntime, { onTexts, onTotals }: Listener): AgentRuntime => {
  let before: UsageTotals = NO_TOTALS
  const listenTo = (agent: RunningAgent<unknown>): RunningAgent<unknown> => ({
    worksAhead: agent.worksAhead ?? false,
    steps: (async function* () {
      let now = before
      try {
        for await (const step of agent.steps) {
          if (step.texts.length > 0) onTexts(step.texts)
          if (step.totals !== undefined) {
            now = addTotals(before, step.totals)
            onTotals(now)
          }
          yield step
        }
      } finally {
        before = now
      }
    })(),
    ...(agent.tell && { tell: agent.tell.bind(agent) }),
    interrupt: () => agent.interrupt(),
  })
  const { backend, takesSessionId, reportsCost, reportsWindow, takesTools } = runtime
  return {
    backend,
    takesSessionId,
    ...defined({ reportsCost, reportsWindow, takesTools }),
    start: (launch) => listenTo(runtime.start(launch)),
    ...(runtime.resume && { resume: (launch) => listenTo(resumed(runtime, launch)) }),
    ...(runtime.has && { has: runtime.has.bind(runtime) }),
    ...(runtime.transcript && { transcript: runtime.transcript.bind(runtime) }),
    ...(runtime.ask && { ask: runtime.ask.bind(runtime) }),
  }
}

const resumed = (
  runtime: AgentRuntime,
  launch: Parameters<NonNullable<AgentRuntime['resume']>>[0],
): RunningAgent<unknown> => {
  if (runtime.resume === undefined) throw new TypeError(`${runtime.backend} cannot resume a session`)
  return runtime.resume(launch)
}
