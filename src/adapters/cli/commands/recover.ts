import { counted } from '../../../domain/kernel/counted.ts'
import { defined } from '../../../domain/kernel/defined.ts'
import { permissionProblem } from '../../../domain/run/permission-mode.ts'
import type { RunEvent } from '../../../domain/run/run-event.ts'
import type { RedactionCounts } from '../../../domain/secrets/redaction-settings.ts'
import { AGENT_RUNTIMES, backendOf, PERMISSION_MODES, RUNTIME_NAMES } from '../../../main/runtimes.ts'
import type { AgentRuntime } from '../../../ports/agent/agent-runtime.ts'
import { RuntimeFailure } from '../../../ports/agent/runtime-failure.ts'
import type { HeldLease } from '../../../ports/store/session-leases.ts'
import type { Recovered, RecoverRequest } from '../../../services/run/recover/recovery.ts'
import { castFrom, runtimeFrom, runtimeName } from '../choose/chosen-agents.ts'
import { notTogether, textFlag } from '../choose/flag-values.ts'
import { sayHidden } from '../choose/hidden-secrets.ts'
import { openFor } from '../choose/opened-store.ts'
import { configurationFrom, limitsFrom, lookBackFrom } from '../choose/run-choices.ts'
import { CommandNotCompleted } from '../invocation/command-problems.ts'
import { EXIT } from '../invocation/exit-codes.ts'
import type { Invocation, Run } from '../invocation/invocation.ts'
import { LIMIT_FLAGS } from '../invocation/run-flags.ts'
import { describeRunEvent, outcomeText } from '../render/run-lines.ts'
import { plain, toJson } from '../render/text.ts'
import { TextTable } from '../render/text-table.ts'
import { textOfSpans } from '../terminal/style.ts'

/** Resumes the orphaned work of processes that are gone. */
export const recoverCommand: Run = async (invocation) => {
  notTogether(invocation, 'fail', 'runtime')
  notTogether(invocation, 'fail', 'command')
  notTogether(invocation, 'fail', 'agents')
  for (const limit of [...Object.keys(LIMIT_FLAGS), 'no-look-back']) notTogether(invocation, 'fail', limit)
  const run = { ...limitsFrom(invocation), ...defined({ lookBack: lookBackFrom(invocation) }) }
  const { values, out, notes } = invocation
  const isFail = values.fail === true
  const who = isFail ? { runtimes: [] } : await whoResumes(invocation)
  const checked = await configurationFrom(invocation)
  await using opened = await openFor(invocation, { part: 'runner', to: 'read', checked })
  const { batonpass, redactor } = opened
  const signal = invocation.interruption()
  const onEvent = (event: RunEvent): void =>
    notes.line(`${event.conversationId} ${describeRunEvent(redactor.redactAll(event))}`)
  const cancelled = new CommandNotCompleted('Recovering was cancelled.', EXIT.cancelled)
  const onWaiting = (lease: HeldLease): void => notes.line(`Waiting for ${describeWaiting(lease)}`)
  const how = { leaveOthers: !isFail, wait: values.wait === true }
  const request = { ...who, run, ...how, signal, onEvent, onWaiting }
  const done = await batonpass.recover(request).catch((problem) => {
    throw signal.aborted ? cancelled : problem
  })
  const recovered = redactor.redactAll(done)
  out.line(
    rendered(recovered, await batonpass.waiting(), {
      isJson: values.json === true,
      width: out.columns,
      hidden: redactor.counts(),
    }),
  )
  if (values.json !== true) sayHidden(invocation, redactor)
  if (signal.aborted) throw cancelled
  const broken = recovered.filter(
    (one) => one.type === 'unfinished' || (one.type === 'resumed' && one.summary.outcome !== 'completed'),
  )
  if (broken.length > 0)
    throw new CommandNotCompleted(`${counted(broken.length, 'run')} did not complete.`, EXIT.failure)
}

/** The agents of a file, or runtimes. */
const whoResumes = async (invocation: Invocation): Promise<Pick<RecoverRequest, 'runtimes' | 'agents'>> => {
  if (textFlag(invocation, 'agents') === undefined) return { runtimes: await runtimesFor(invocation) }
  const checked = await configurationFrom(invocation)
  return { agents: (await castFrom(invocation, checked?.configuration.agents ?? [])).agents }
}

/** The one that is named, or every one that there is here. */
const runtimesFor = async (invocation: Invocation): Promise<readonly AgentRuntime[]> => {
  const named = runtimeName(invocation)
  if (named !== undefined) return [await runtimeFrom(invocation, named)]
  const mode = textFlag(invocation, 'permission-mode')
  const canTake = (name: string): boolean =>
    mode === undefined || permissionProblem(mode, name, PERMISSION_MODES) === undefined
  const runtimes: AgentRuntime[] = []
  for (const name of AGENT_RUNTIMES.filter(canTake)) {
    try {
      runtimes.push(await runtimeFrom(invocation, name))
    } catch (problem) {
      if (!(problem instanceof RuntimeFailure)) throw problem
    }
  }
  return runtimes
}

interface RenderedHow {
  readonly isJson: boolean
  readonly width: number | undefined
  readonly hidden: RedactionCounts
}

const rendered = (
  recovered: readonly Recovered[],
  waiting: readonly HeldLease[],
  { isJson, width, hidden }: RenderedHow,
): string => {
  if (isJson) return toJson({ recovered, ...(waiting.length > 0 && { waiting }), redaction: hidden })
  const notYet = waiting.map(describeWaiting)
  if (recovered.length === 0 && waiting.length === 0) return 'There is nothing to recover.'
  const why = 'Not recovered, because a process that may still live has it (--wait waits for that):'
  return [
    ...(recovered.length === 0 ? [] : [tableOf(recovered, width)]),
    ...(notYet.length === 0 ? [] : [why, ...notYet]),
  ].join('\n')
}

/** A session that waits, until when, and where its agent was last seen. */
const describeWaiting = ({ sessionId, until, processes }: HeldLease): string => {
  const hosts = [...new Set(processes.map(({ host }) => host))]
  const where = hosts.length === 0 ? '' : `, on ${plain(hosts.join(', '))}`
  return `${sessionId}  until ${until}${where}`
}

const tableOf = (recovered: readonly Recovered[], width: number | undefined): string => {
  const columns = [
    { title: 'SESSION', of: ({ sessionId }: Recovered) => sessionId, isId: true as const },
    { title: 'BECAME', of: became },
  ]
  const table = new TextTable(columns, recovered, width)
  return [table.header(), ...recovered.map((one) => table.row(one))].map(textOfSpans).join('\n')
}

const became = (one: Recovered): string => {
  switch (one.type) {
    case 'resumed':
      return `resumed: ${outcomeText(one.summary)}${one.summary.reason === undefined ? '' : `: ${plain(one.summary.reason)}`}`
    case 'failed':
      return 'failed'
    case 'left':
      return one.waitsForThreads === true
        ? 'left: it waits for what it delegated; recover it with --agents FILE, or run it again'
        : `left: it runs on ${plain(one.backend)}${runtimeHint(one.backend)}`
    case 'unfinished':
      return `not finished: ${plain(one.problem)}`
    case 'taken':
      return 'somebody else was first'
    case 'handed_over':
      return 'waits for the agent it was handed to'
    default:
      return one satisfies never
  }
}

const runtimeHint = (backend: string): string => {
  const name = RUNTIME_NAMES.find((candidate) => backendOf(candidate) === backend)
  if (name === undefined) return ''
  // Only the person knows which program it was: it is not on record, because it may have secrets in it.
  return name === 'command' ? ' (--command, with the program that it ran)' : ` (--runtime ${name})`
}
