import { existsSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import type { RestartBudget } from '../../domain/budget/restart-budget.ts'
import type { Workspace } from '../../domain/conversation/conversation.ts'
import { defined } from '../../domain/kernel/defined.ts'
import type { ConfiguredAgent } from '../../domain/run/agent-settings.ts'
import type { CheckedConfiguration, Configuration } from '../../domain/run/configuration.ts'
import { SESSION_MODES } from '../../domain/run/session-settings.ts'
import { PRESSURE_POLICIES, type PressurePolicy } from '../../domain/window/context-monitor.ts'
import { readConfiguration, uuidV7Ids } from '../../doors.ts'
import type { AgentRuntime } from '../../ports/agent-runtime.ts'
import type { RunRequest } from '../../services/runner/run-request.ts'
import type { CliCommand, Invocation } from './command.ts'
import { duration, noWords, oneOf, parsedFlag, textFlag } from './history-args.ts'
import { NETWORK_FLAGS, NETWORK_FLAGS_HELP } from './network-flags.ts'
import { UsageError } from './problems.ts'
import { RUNTIME_FLAGS, RUNTIME_FLAGS_HELP } from './runtime-flags.ts'
import { STORE_FLAGS, STORE_FLAGS_HELP } from './store-options.ts'

/** The flags that limit a run, and one that is recovered. */
export const LIMIT_FLAGS = {
  'max-restarts': { type: 'string' },
  'max-cost': { type: 'string' },
  'max-turns': { type: 'string' },
  'max-takeovers': { type: 'string' },
  'allow-unpriced': { type: 'boolean' },
  deadline: { type: 'string' },
  'idle-timeout': { type: 'string' },
} as const satisfies CliCommand['options']

/** What these flags mean, for the help of a command. */
export const LIMIT_FLAGS_HELP = [
  '  --max-restarts N    restarts since the latest new prompt (3); on a later run it is the new total',
  '  --max-takeovers N   how often a lost process may be replaced since then (5)',
  '  --max-cost USD      dollars for the whole conversation, over all its runs (no cap)',
  '  --allow-unpriced    under a cap, use a model without a list price too: it is not counted',
  '  --max-turns N       turns of this run (no limit)',
  '  --deadline TIME     time for the whole conversation, such as 30m or 2h (none)',
  '  --idle-timeout TIME end an agent that says nothing for so long; a running tool says nothing (none)',
].join('\n')

/** The flags of a run. */
export const RUN_FLAGS = {
  ...STORE_FLAGS,
  ...RUNTIME_FLAGS,
  ...NETWORK_FLAGS,
  agent: { type: 'string' },
  conversation: { type: 'string' },
  policy: { type: 'string' },
  config: { type: 'string' },
  'context-limit': { type: 'string' },
  ...LIMIT_FLAGS,
  cwd: { type: 'string' },
  worktree: { type: 'string' },
  branch: { type: 'string' },
  'base-branch': { type: 'string' },
  resume: { type: 'string' },
  'session-mode': { type: 'string' },
  'session-timeout': { type: 'string' },
  'prompt-file': { type: 'string' },
  quiet: { type: 'boolean' },
  verbose: { type: 'boolean' },
  messages: { type: 'boolean' },
} as const satisfies CliCommand['options']

/** What these flags mean, for the command's help. */
export const RUN_FLAGS_HELP = [
  RUNTIME_FLAGS_HELP,
  '  --agent NAME     what the agent is called in the record (the name of the runtime); one of the',
  '                   agents of the configuration, if it names any',
  '  --conversation KEY  your own key for the work: the same key goes on where it stopped',
  `  --policy WORD    ${PRESSURE_POLICIES.join(', ')}: what to do about a full window (auto)`,
  '  --config FILE    milestones, budget, hooks and checkpoints; flags count before it',
  NETWORK_FLAGS_HELP,
  '  --context-limit N   how many tokens to use of the window',
  LIMIT_FLAGS_HELP,
  '  --cwd DIR        where the work is done (here); --worktree DIR and --branch NAME if it has its own,',
  '                   --base-branch NAME for the branch that it began at',
  '  --resume ID      begin in this session of the runtime instead of a new one',
  `  --session-mode WORD ${SESSION_MODES.join(', ')}: whether a further prompt resumes the runtime’s session (persistent)`,
  '  --session-timeout TIME  how long after its end that session may be resumed (24h)',
  '  --prompt-file FILE  the prompt from a file; "-" in place of the prompt reads standard input',
  '  --quiet          do not print what the agent says',
  '  --verbose        print the log to standard error: restarts, refusals, outages, what is not known',
  STORE_FLAGS_HELP,
  '  --messages       with --json: also the messages of the runtime, as {"type":"message"}',
].join('\n')

/** The prompt: a word on the command line, a file, or standard input. */
export const promptFrom = async (invocation: Invocation): Promise<string> => {
  const [word, ...rest] = invocation.positionals
  noWords({ ...invocation, positionals: rest })
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

/** What the flags and the configuration say about a run, beside its runtime and its prompt. */
export type RunChoices = Omit<RunRequest, 'runtime' | 'prompt' | 'agent' | 'signal'> & { readonly conversation: string }

/** The configuration that a flag names. */
export const configurationFrom = async (invocation: Invocation): Promise<CheckedConfiguration | undefined> => {
  const file = textFlag(invocation, 'config')
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
    policy: parsedFlag(invocation, 'policy', oneOf(PRESSURE_POLICIES)),
    contextLimit: parsedFlag(invocation, 'context-limit', wholeNumber(1)),
  }
  const { budget, ...limits } = limitsFrom(invocation)
  const isWritten = checked?.settings.some(({ key, from }) => key === 'restart.policy' && from !== 'default') === true
  const policy: PressurePolicy =
    flags.policy ?? (isWritten ? checked?.configuration.monitor.policy : undefined) ?? 'auto'
  return defined({
    policy,
    contextLimit: flags.contextLimit,
    ...limits,
    model: textFlag(invocation, 'model'),
    resume: textFlag(invocation, 'resume'),
    sessionMode: parsedFlag(invocation, 'session-mode', oneOf(SESSION_MODES)),
    sessionTimeoutMs: parsedFlag(invocation, 'session-timeout', duration),
    conversation: textFlag(invocation, 'conversation') ?? `run-${uuidV7Ids.next().slice(-12)}`,
    workspace: workspaceFrom(invocation, checked?.configuration),
    budget: { ...writtenBudget(checked), ...defined({ maxRestarts: agent?.maxRestarts }), ...budget },
  })
}

/** A conversation keeps where its work is done, so that whoever goes on with it elsewhere finds the place. */
const workspaceFrom = (invocation: Invocation, configuration: Configuration | undefined): Workspace => {
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
): Pick<RunRequest, 'maxTurns' | 'idleTimeoutMs' | 'allowUnpriced'> & { readonly budget: Partial<RestartBudget> } =>
  defined({
    maxTurns: parsedFlag(invocation, 'max-turns', wholeNumber(1)),
    idleTimeoutMs: parsedFlag(invocation, 'idle-timeout', duration),
    allowUnpriced: invocation.values['allow-unpriced'] === true ? true : undefined,
    budget: defined({
      maxRestarts: parsedFlag(invocation, 'max-restarts', wholeNumber(0)),
      deadlineMs: parsedFlag(invocation, 'deadline', duration),
      maxCostUsd: parsedFlag(invocation, 'max-cost', dollars),
      maxTakeovers: parsedFlag(invocation, 'max-takeovers', wholeNumber(0)),
    }),
  })

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

const wholeNumber =
  (least: number) =>
  (text: string): number => {
    const number = Number(text)
    if (!/^\d{1,12}$/.test(text) || number < least) throw new TypeError(`it must be a whole number from ${least} up.`)
    return number
  }

/** @throws UsageError when a session is named and the runtime cannot go on in one */
export const mustResume = (runtime: AgentRuntime, { resume }: RunChoices): void => {
  if (resume !== undefined && runtime.resume === undefined)
    throw new UsageError('--resume: this runtime cannot go on in a session.')
}
