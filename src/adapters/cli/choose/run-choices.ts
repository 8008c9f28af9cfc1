import { existsSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import type { RestartBudget } from '../../../domain/budget/restart-budget.ts'
import type { Workspace } from '../../../domain/conversation/conversation.ts'
import { defined } from '../../../domain/kernel/defined.ts'
import type { ConfiguredAgent } from '../../../domain/run/configured-agent.ts'
import type { CheckedConfiguration, Configuration } from '../../../domain/run/run-configuration.ts'
import { SESSION_MODES } from '../../../domain/run/session-settings.ts'
import { PRESSURE_POLICIES } from '../../../domain/window/context-monitor.ts'
import { readConfiguration } from '../../../main/configuration.ts'
import type { AgentRuntime } from '../../../ports/agent/agent-runtime.ts'
import type { RunRequest } from '../../../services/run/run-request.ts'
import { uuidV7Ids } from '../../system/uuid-v7-ids.ts'
import { UsageError } from '../invocation/command-problems.ts'
import type { Invocation } from '../invocation/invocation.ts'
import { durationFlag, parsedFlag, textFlag, wordFlag } from './flag-values.ts'

/** The prompt: a word on the command line, a file, or standard input. */
export const promptFrom = async (invocation: Invocation): Promise<string> => {
  const [word] = invocation.positionals
  const file = textFlag(invocation, 'prompt-file')
  if ((word === undefined) === (file === undefined))
    throw new UsageError('Say what to do: "baton run PROMPT", --prompt-file FILE, or "-" for standard input.')
  const prompt = file !== undefined ? textOf(file) : word === '-' ? await invocation.input() : (word ?? '')
  if (prompt.trim() === '') throw new UsageError('The prompt is empty.')
  return prompt
}

const textOf = (file: string): string => {
  try {
    return readFileSync(file, 'utf8')
  } catch (cause) {
    throw new UsageError(`The file "${file}" cannot be read.`, { cause })
  }
}

/** The settings of a run from flags and configuration, beside its runtime and its prompt. */
export type RunChoices = Omit<RunRequest, 'runtime' | 'prompt' | 'agent' | 'signal'> & { readonly conversation: string }

/** The configuration that a flag names; the one with the agents is a whole configuration too. */
export const configurationFrom = async (invocation: Invocation): Promise<CheckedConfiguration | undefined> => {
  const file = textFlag(invocation, 'agents') ?? textFlag(invocation, 'config')
  if (file !== undefined && !existsSync(file)) throw new UsageError(`There is no file "${file}".`)
  return file === undefined ? undefined : readConfiguration(file)
}

/** Reads the flags, beside the configuration where one is named. What a flag says counts. */
export const runChoices = (
  invocation: Invocation,
  checked: CheckedConfiguration | undefined,
  agent: ConfiguredAgent | undefined,
): RunChoices => {
  const flags = {
    policy: parsedFlag(invocation, 'policy', wordFlag(PRESSURE_POLICIES)),
    contextLimit: parsedFlag(invocation, 'context-limit', wholeNumberFlag(1)),
  }
  const { budget, ...limits } = limitsFrom(invocation)
  // Several agents have their places beside the one of the conversation.
  const agentPlace = textFlag(invocation, 'agents') === undefined ? agent?.place : undefined
  return defined({
    policy: flags.policy ?? checked?.configuration.monitor.policy,
    contextLimit: flags.contextLimit,
    lookBack: lookBackFrom(invocation),
    ...limits,
    model: textFlag(invocation, 'model'),
    resume: textFlag(invocation, 'resume'),
    sessionMode: parsedFlag(invocation, 'session-mode', wordFlag(SESSION_MODES)),
    sessionTimeoutMs: parsedFlag(invocation, 'session-timeout', durationFlag),
    conversation: textFlag(invocation, 'conversation') ?? `run-${uuidV7Ids.next().slice(-12)}`,
    workspace: workspaceFrom(invocation, agentPlace ?? checked?.configuration),
    worktree: agentPlace?.worktree,
    budget: { ...writtenBudget(checked), ...defined({ maxRestarts: agent?.maxRestarts }), ...budget },
  })
}

/** A conversation keeps where its work is done, so that a process that resumes it elsewhere finds the place. */
const workspaceFrom = (
  invocation: Invocation,
  configuration: Pick<Configuration, 'workspace'> | undefined,
): Workspace => {
  const { workingDirectory, worktreePath, branch, baseBranch } = configuration?.workspace ?? {}
  const folder = textFlag(invocation, 'cwd') ?? workingDirectory ?? '.'
  const worktree = textFlag(invocation, 'worktree') ?? worktreePath
  for (const path of [folder, worktree])
    if (path !== undefined && !existsSync(path)) throw new UsageError(`There is no folder "${path}".`)
  return defined({
    workingDirectory: resolve(folder),
    worktreePath: worktree === undefined ? undefined : resolve(worktree),
    branch: textFlag(invocation, 'branch') ?? branch,
    baseBranch: textFlag(invocation, 'base-branch') ?? baseBranch,
  })
}

/** The keys of a configuration that are about the budget. */
const BUDGET_KEYS: Readonly<Record<string, keyof RestartBudget>> = {
  'session.max_handoffs_per_job': 'maxRestarts',
  'restart.deadline': 'deadlineMs',
  'restart.max_cost_usd': 'maxCostUsd',
  'restart.max_takeovers': 'maxTakeovers',
  'restart.when_exhausted': 'whenExhausted',
}

/** The limits that the flags name, and no others: a conversation that exists keeps its other limits. */
export const limitsFrom = (
  invocation: Invocation,
): Pick<RunRequest, 'maxTurns' | 'idleTimeoutMs' | 'allowUnpriced' | 'fanOut'> & {
  readonly budget: Partial<RestartBudget>
} =>
  defined({
    maxTurns: parsedFlag(invocation, 'max-turns', wholeNumberFlag(1)),
    idleTimeoutMs: parsedFlag(invocation, 'idle-timeout', durationFlag),
    allowUnpriced: invocation.values['allow-unpriced'] === true ? true : undefined,
    fanOut: fanOutFrom(invocation),
    budget: defined({
      maxRestarts: parsedFlag(invocation, 'max-restarts', wholeNumberFlag(0)),
      deadlineMs: parsedFlag(invocation, 'deadline', durationFlag),
      maxCostUsd: parsedFlag(invocation, 'max-cost', dollars),
      maxTakeovers: parsedFlag(invocation, 'max-takeovers', wholeNumberFlag(0)),
    }),
  })

const fanOutFrom = (invocation: Invocation): RunRequest['fanOut'] => {
  const limits = defined({
    maxDepth: parsedFlag(invocation, 'max-depth', wholeNumberFlag(0)),
    maxThreads: parsedFlag(invocation, 'max-threads', wholeNumberFlag(0)),
  })
  return Object.keys(limits).length === 0 ? undefined : limits
}

/** Whether continued sessions are offered the tool that looks back, where a flag says so. */
export const lookBackFrom = ({ values }: Pick<Invocation, 'values'>): false | undefined =>
  values['no-look-back'] === true ? false : undefined

/** The limits that a configuration names. */
const writtenBudget = (checked: CheckedConfiguration | undefined): Partial<RestartBudget> => {
  const written = (checked?.settings ?? []).flatMap(({ key, from }) => {
    const part = from === 'default' ? undefined : BUDGET_KEYS[key]
    return part === undefined ? [] : [[part, checked?.configuration.restart.budget[part]] as const]
  })
  return Object.fromEntries(written)
}

const dollars = (text: string): number => {
  const amount = Number(text.replace(/^\$/, ''))
  if (!/^\$?\d{1,9}(\.\d{1,6})?$/.test(text) || amount <= 0)
    throw new TypeError('it must be dollars, such as 5 or 2.50.')
  return amount
}

/** A whole number as a flag has it. @throws TypeError */
export const wholeNumberFlag =
  (least: number) =>
  (text: string): number => {
    const number = Number(text)
    if (!/^\d{1,12}$/.test(text) || number < least) throw new TypeError(`it must be a whole number from ${least} up.`)
    return number
  }

/** @throws UsageError when a session is named and the runtime cannot resume one */
export const mustResume = (runtime: AgentRuntime, { resume }: RunChoices): void => {
  if (resume !== undefined && runtime.resume === undefined)
    throw new UsageError('--resume: this runtime cannot resume a session.')
}
