import type { BudgetLimit } from '../../../domain/budget/restart-budget.ts'
import type { ConfiguredAgent } from '../../../domain/run/configured-agent.ts'
import type { RunOutcome, RunSummary } from '../../../domain/run/run-summary.ts'
import type { Redactor } from '../../../main/redaction.ts'
import type { AgentRuntime } from '../../../ports/agent/agent-runtime.ts'
import { quoted } from '../../../processes/quoted.ts'
import type { AgentRun } from '../../../services/run/agent-run.ts'
import type { RunRequest } from '../../../services/run/run-request.ts'
import {
  agentFrom,
  asConfigured,
  type ChosenCast,
  castFrom,
  chosenRuntime,
  type RuntimeOfAgent,
  runtimeFrom,
  runtimeName,
  runtimesText,
} from '../choose/chosen-agents.ts'
import { textFlag } from '../choose/flag-values.ts'
import { sayHidden } from '../choose/hidden-secrets.ts'
import { withListener } from '../choose/listened-runtime.ts'
import { openFor } from '../choose/opened-store.ts'
import { configurationFrom, mustResume, promptFrom, runChoices } from '../choose/run-choices.ts'
import { CommandNotCompleted, UsageError } from '../invocation/command-problems.ts'
import { EXIT_OF_RUN } from '../invocation/exit-codes.ts'
import type { Invocation, Run } from '../invocation/invocation.ts'
import { allowingText, outcomeText } from '../render/run-lines.ts'
import { RunProgress } from '../render/run-progress.ts'
import { plain, plainLines, toJsonLine } from '../render/text.ts'

/** Runs an agent in as many windows as it takes. */
export const runCommand: Run = async (invocation) => {
  const { values, notes } = invocation
  if (values.messages === true && values.json !== true) throw new UsageError('--messages goes with --json.')
  const prompt = await promptFrom(invocation)
  const checked = await configurationFrom(invocation)
  const who = await whoRuns(invocation, checked?.configuration.agents ?? [])
  const choices = runChoices(who.flags, checked, who.configured)
  if ('runtime' in who.request) mustResume(who.request.runtime, choices)
  await using opened = await openFor(invocation, { part: 'runner', to: 'write', checked })
  const { batonpass, redactor } = opened
  const signal = invocation.interruption()
  if (values.json !== true) notes.line(runtimesText(who.runtimes))
  const progress = new RunProgress(notes, { isSilent: values['no-bell'] === true })
  const watching = { invocation, progress, redactor }
  const run = batonpass.run({ ...choices, ...heard(who.request, watching), prompt, signal } as RunRequest)
  const summary = redactor.redactAll(await watched(run, watching))
  if (values.json !== true) sayHidden(invocation, redactor)
  if (summary.outcome !== 'completed') throw runNotCompleted(summary, choices.conversation)
}

/** The agent that runs, or the agents. */
interface WhoRuns {
  readonly request: Pick<RunRequest, 'runtime' | 'agent'> | (Pick<ChosenCast, 'agents'> & { readonly start: string })
  /** The agent of the configuration that begins. */
  readonly configured: ConfiguredAgent | undefined
  /** The flags, as they would be had the agent's own settings been written out. */
  readonly flags: Invocation
  readonly runtimes: readonly RuntimeOfAgent[]
}

const whoRuns = async (invocation: Invocation, configured: readonly ConfiguredAgent[]): Promise<WhoRuns> => {
  if (textFlag(invocation, 'agents') !== undefined) {
    const { start, agents, runtimes } = await castFrom(invocation, configured)
    return { request: { agents, start: start.name }, configured: start, flags: invocation, runtimes }
  }
  const agent = agentFrom(invocation, configured)
  const flags = asConfigured(invocation, agent)
  const name = chosenRuntime(flags)
  const runtime = await runtimeFrom(flags, name)
  const request = { runtime, agent: agent?.name ?? textFlag(invocation, 'agent') ?? name }
  const runtimes = [{ agent: request.agent, name, isFound: runtimeName(flags) === undefined }]
  return { request, configured: agent, flags, runtimes }
}

/** Somebody who looks on: what is shown to them has no secrets in it. */
interface Watching {
  readonly invocation: Invocation
  readonly progress: RunProgress
  readonly redactor: Redactor
}

/** The same agents, with somebody who hears what they say and what they use. */
const heard = (request: WhoRuns['request'], watching: Watching): WhoRuns['request'] => {
  if ('runtime' in request) return { ...request, runtime: listened(request.runtime, watching) }
  const members = Object.entries(request.agents).map(
    ([name, member]) => [name, { ...member, runtime: listened(member.runtime, watching) }] as const,
  )
  return { ...request, agents: Object.fromEntries(members) }
}

const listened = (runtime: AgentRuntime, { invocation, progress, redactor }: Watching): AgentRuntime => {
  const { values } = invocation
  return withListener(runtime, {
    onTexts: (texts) => {
      if (values.json === true || values.quiet === true) return
      for (const { role, text } of texts) if (role === 'assistant') sayLines(invocation, redactor.redact(text))
    },
    onTotals: (totals) => values.json !== true && progress.used(totals, runtime),
  })
}

const sayLines = ({ out }: Invocation, text: string): void => {
  for (const line of plainLines(text)) out.line(line)
}

/** Passes on what happens, for a person or for a machine, until the run is over. */
const watched = (run: AgentRun<unknown>, watching: Watching): Promise<RunSummary> =>
  watching.invocation.values.json === true ? writtenDown(run, watching) : shown(run, watching)

/** A line for each thing that happens, and for each message where they are wanted: in one order. */
const writtenDown = async (run: AgentRun<unknown>, { invocation, redactor }: Watching): Promise<RunSummary> => {
  const { values, out } = invocation
  for await (const item of run.everything()) {
    if (item.type === 'message' && values.messages !== true) continue
    const shown = redactor.redactAll(item)
    out.line(toJsonLine(item.type === 'run:end' ? { ...shown, redaction: redactor.counts() } : shown))
  }
  return run.summary
}

const shown = async (run: AgentRun<unknown>, { progress, redactor }: Watching): Promise<RunSummary> => {
  run.on((event) => progress.take(redactor.redactAll(event)))
  try {
    return await run.finish()
  } finally {
    progress.end()
  }
}

/** Flags that allow more of what was used up. */
const MORE: Readonly<Partial<Record<BudgetLimit, string>>> = {
  restarts: 'a larger --max-restarts, or a new prompt',
  takeovers: 'a larger --max-takeovers, or a new prompt',
  cost: 'a larger --max-cost',
  deadline: 'a longer --deadline',
}

/** Ends after which the same command resumes the work: a silent agent may answer again. */
const RESUMABLE: readonly RunOutcome[] = ['cancelled', 'failed', 'timed_out']

/** Every other end has a status of its own, and says how to continue where that is possible. */
const runNotCompleted = (summary: RunSummary, conversation: string): CommandNotCompleted => {
  const { outcome, reason, limit } = summary
  const why = reason === undefined ? '' : ` ${plain(reason)}`
  const more = outcome === 'writes_refused' ? allowingText(summary) : limit === undefined ? undefined : MORE[limit]
  const again = `To continue, run the same command with --conversation ${quoted(plain(conversation))}`
  const isWorthIt = RESUMABLE.includes(outcome) || more !== undefined || limit === 'turns'
  const next = isWorthIt ? `\n${again}${more === undefined ? '' : ` and ${more}`}` : ''
  return new CommandNotCompleted(
    `The run has not completed (${outcomeText(summary)}).${why}${next}`,
    EXIT_OF_RUN[outcome],
  )
}
