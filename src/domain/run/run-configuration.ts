import type { RestartBudget } from '../budget/restart-budget.ts'
import type { Workspace } from '../conversation/conversation.ts'
import type { WorktreeSettings } from '../conversation/worktree.ts'
import type { HookSettings } from '../hooks/hook-settings.ts'
import { type NestedNames, unknownNames } from '../kernel/known-names.ts'
import { onOneLine } from '../kernel/safe-text.ts'
import type { RedactionSettings } from '../secrets/redaction-settings.ts'
import type { FanOutLimits } from '../thread/fan-out.ts'
import type { PressurePolicy } from '../window/context-monitor.ts'
import type { Milestone } from '../window/milestone.ts'
import type { ConfiguredAgent } from './configured-agent.ts'
import type { SessionSettings } from './session-settings.ts'

/** The names of a configuration in a folder, where none is named. */
export const CONFIGURATION_FILES = ['batonpass.yaml', 'batonpass.yml', 'batonpass.json'] as const

/** The choices for when no restart is left. */
export const EXHAUSTED_CHOICES = ['stop', 'carry_on'] as const satisfies readonly RestartBudget['whenExhausted'][]

/** How long the outgoing agent may take to write its checkpoint, by default. */
export const DEFAULT_CHECKPOINT_TIMEOUT_MS = 120_000

/** The settings in force: those of the file, and defaults for the rest. */
export interface Configuration {
  readonly monitor: {
    readonly isEnabled: boolean
    /** The policy that was chosen; absent means `auto` for runs, and `advise` for sessions that nobody runs. */
    readonly policy?: PressurePolicy
    /** Lowest first, without those that are switched off. */
    readonly milestones: readonly Milestone[]
  }
  /** The most tokens to use of a window; absent means as many as the runtime allows. */
  readonly contextLimit?: number
  readonly restart: {
    readonly budget: RestartBudget
    readonly checkpointTimeoutMs: number
    /** How many tokens of the person's own words a successor is given; absent means a tenth of the usable window. */
    readonly personWordsTokens?: number
    /** How long an agent may be silent before it is ended; absent means without limit. */
    readonly idleTimeoutMs?: number
    /** How many turns a run may have; absent means without limit. */
    readonly maxTurns?: number
    /** Whether a model without a list price may be used under a cap on the cost. */
    readonly allowUnpriced?: boolean
    /** The text that asks for a checkpoint; absent means the built-in one. */
    readonly template?: string
    /** The text a successor opens with; absent means the built-in one. */
    readonly continuation?: string
    /**
     * The text for an agent whose window reaches the critical milestone; absent means the built-in text, false no text.
     */
    readonly softLanding?: string | false
    /** Whether a continued session gets the tool `look_back`; absent means that it does. */
    readonly lookBack?: boolean
  }
  readonly session: SessionSettings
  /** Where the work is done. */
  readonly workspace?: Workspace
  /** How each conversation gets its own worktree; absent means that it gets none. */
  readonly worktree?: WorktreeSettings
  /** The agents it names, in order; none means that an agent may have any name. */
  readonly agents: readonly ConfiguredAgent[]
  /** How far agents may delegate. */
  readonly fanOut: FanOutLimits
  /** How threads take a summary along. */
  readonly threads: {
    /** Who writes summaries: `extractive` for the record alone, or the name of an agent. */
    readonly summarizer: string
    /** The model of that summarizer; absent means the usual one. */
    readonly model?: string
    /** Whether the record is quoted when that summarizer fails. */
    readonly fallback: boolean
    /** The memory file in the workspace; absent means the usual one of the agent. */
    readonly file?: string
    readonly markers?: { readonly begin: string; readonly end: string }
    readonly budgetTokens: number
    readonly expiresMs: number
    /** The milestone at which a run suggests a thread handoff to the person; absent means never. */
    readonly offerAt?: string
  }
  /** How long commands are remembered; false means for ever. */
  readonly commandRetentionMs: number | false
  /**
   * How secrets are hidden; absent where the file sets nothing: then the command line hides them, and the library does
   * not.
   */
  readonly redact?: RedactionSettings
  readonly hooks: readonly HookSettings[]
}

/** One setting in force, and where it comes from. */
export interface ConfigurationSetting {
  readonly key: string
  /** Durations are milliseconds; null means off, or not set. */
  readonly value: string | number | boolean | null
  /** `default`, or the key that sets it. */
  readonly from: string
}

/** A configuration that can be used, and how it came about. */
export interface CheckedConfiguration {
  readonly configuration: Configuration
  readonly settings: readonly ConfigurationSetting[]
  /** Settings that are allowed but may be a mistake. */
  readonly remarks: readonly string[]
}

/** One thing that is wrong with a configuration. */
export interface ConfigurationProblem {
  /** The key, such as `session.context_threshold` or `hooks.after_run[0].url`; empty for the whole. */
  readonly path: string
  readonly problem: string
  /** Advice for the person. */
  readonly advice: string
  /** The line in the file, where it is known. */
  readonly line?: number
}

/**
 * A configuration that cannot be used, with everything that is wrong with it.
 *
 * @example
 * ```ts
 * try {
 *   await readConfiguration({ sesion: { context_threshold: 0.1 } })
 * } catch (error) {
 *   if (error instanceof ConfigurationError) console.log(error.problems[0]?.advice) // => Did you mean "session"?
 * }
 * ```
 */
export class ConfigurationError extends Error {
  override readonly name = 'ConfigurationError'
  readonly code = 'configuration.invalid'
  readonly problems: readonly ConfigurationProblem[]
  /** The file, where there is one, as the caller named it. */
  readonly file?: string

  constructor(problems: readonly ConfigurationProblem[], options: ErrorOptions & { readonly file?: string } = {}) {
    const { file, ...rest } = options
    super([unusable(file), ...problems.map(describeProblem)].join('\n'), rest)
    this.problems = problems
    if (file !== undefined) this.file = file
  }
}

/** Refuses unknown options, each with the nearest name. @throws ConfigurationError */
export const mustBeKnown = (options: unknown, names: NestedNames): void => {
  const problems = unknownNames(options, names).map(({ path, advice }) => ({
    path,
    problem: 'is not an option',
    advice,
  }))
  if (problems.length > 0) throw new ConfigurationError(problems)
}

/** The sentence that a configuration, or this file of one, cannot be used. */
export const unusable = (file?: string): string =>
  onOneLine(`The configuration ${file === undefined ? '' : `${file} `}cannot be used.`)

const describeProblem = ({ path, problem, advice, line }: ConfigurationProblem): string =>
  onOneLine(`${line === undefined ? '' : `line ${line}: `}${path === '' ? '' : `${path}: `}${problem}. ${advice}`)
