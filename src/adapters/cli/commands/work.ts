import { counted } from '../../../domain/kernel/counted.ts'
import { defined } from '../../../domain/kernel/defined.ts'
import type { RunEvent } from '../../../domain/run/run-event.ts'
import type { Cast } from '../../../services/run/cast.ts'
import type { WaitingBy } from '../../../services/run/worker/work-wait.ts'
import { castFrom, chosenRuntime, runtimeFrom } from '../choose/chosen-agents.ts'
import { durationFlag, parsedFlag, textFlag } from '../choose/flag-values.ts'
import { sayHidden } from '../choose/hidden-secrets.ts'
import { openFor } from '../choose/opened-store.ts'
import { configurationFrom, limitsFrom, wholeNumberFlag } from '../choose/run-choices.ts'
import { UsageError } from '../invocation/command-problems.ts'
import type { Invocation, Run } from '../invocation/invocation.ts'
import { describeRunEvent } from '../render/run-lines.ts'
import { plain, toJsonLine } from '../render/text.ts'

/** Works for agents until it is interrupted: takes up what is handed to them, and runs it. */
export const workCommand: Run = async (invocation) => {
  const { values, out, notes } = invocation
  const checked = await configurationFrom(invocation)
  const agents = await agentsOf(invocation, checked?.configuration.agents ?? [])
  const concurrency = parsedFlag(invocation, 'concurrency', wholeNumberFlag(1))
  const drainMs = parsedFlag(invocation, 'drain-for', durationFlag)
  const { budget: _, ...limits } = limitsFrom(invocation)
  await using opened = await openFor(invocation, { part: 'runner', to: 'write', checked })
  const { batonpass, redactor } = opened
  const isJson = values.json === true
  const onEvent = (unredacted: RunEvent): void => {
    const event = redactor.redactAll(unredacted)
    if (isJson) out.line(toJsonLine(event))
    else notes.line(`${event.conversationId} ${describeRunEvent(event)}`)
  }
  const untilDone = drainMs === undefined ? 'when the work under way is done' : `within ${drainMs / 1_000} seconds`
  notes.line(`Working for ${Object.keys(agents).map(plain).join(', ')}. Ctrl-C stops it ${untilDone}.`)
  const signal = invocation.interruption()
  const onWaiting = (waiting: WaitingBy): void =>
    isJson ? out.line(toJsonLine({ type: 'work:waiting', ...waiting })) : notes.line(describeWaiting(waiting))
  const request = { agents, signal, onEvent, onWaiting, run: limits }
  const summary = await batonpass.work({ ...request, ...defined({ concurrency, drainMs }) })
  if (isJson) return out.line(toJsonLine({ type: 'work:end', ...summary, redaction: redactor.counts() }))
  sayHidden(invocation, redactor)
  const ended = Object.entries(summary.ended).map(([outcome, count]) => `${count} ${outcome.replace('_', ' ')}`)
  const poisoned =
    summary.poisoned === 0 ? [] : [`${counted(summary.poisoned, 'handoff')} failed that nobody could take up`]
  out.line([...ended, ...poisoned].join(', ') || 'Nothing was handed over.')
}

/** How a worker waits, for people. */
const describeWaiting = ({ by, longestMs, reason = '' }: WaitingBy): string => {
  const seldom = `every ${longestMs / 1_000} seconds at the longest`
  return by === 'wake_ups'
    ? `It is woken when something is handed over, and looks ${seldom} in case it was not.`
    : `It looks ${seldom}, and is not woken: ${plain(reason)}.`
}

/** The agents of a file, or the one that the flags describe. */
const agentsOf = async (invocation: Invocation, configured: Parameters<typeof castFrom>[1]): Promise<Cast> => {
  if (textFlag(invocation, 'agents') !== undefined) return (await castFrom(invocation, configured)).agents
  const agent = textFlag(invocation, 'agent')
  if (agent === undefined) throw new UsageError('Say for whom: --agent NAME --runtime NAME, or --agents FILE.')
  const runtime = await runtimeFrom(invocation, chosenRuntime(invocation))
  return { [agent.trim()]: defined({ runtime, model: textFlag(invocation, 'model') }) }
}
