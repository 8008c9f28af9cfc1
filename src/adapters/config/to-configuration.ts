import { DEFAULT_MAX_TAKEOVERS, DEFAULT_RESTART_BUDGET } from '../../domain/budget/restart-budget.ts'
import { HOOK_MOMENTS } from '../../domain/hooks/hook-settings.ts'
import { defined } from '../../domain/kernel/defined.ts'
import { DEFAULT_RETENTION_MS } from '../../domain/kernel/retention-time.ts'
import { roomProblem, USUAL_WINDOW_TOKENS } from '../../domain/run/room-to-ask.ts'
import {
  type CheckedConfiguration,
  type Configuration,
  type ConfigurationSetting,
  DEFAULT_CHECKPOINT_TIMEOUT_MS,
} from '../../domain/run/run-configuration.ts'
import { DEFAULT_SESSION_SETTINGS } from '../../domain/run/session-settings.ts'
import { DEFAULT_FAN_OUT } from '../../domain/thread/fan-out.ts'
import { RUN_POLICY } from '../../domain/window/context-monitor.ts'
import { hookNames, toHooks } from './hook-schema.ts'
import { milestonesInForce, pathText, type SettledMilestones } from './milestone-settings.ts'
import { redactionOf, redactionSettings } from './redact-schema.ts'
import type { FileContent } from './schema.ts'
import type { TemplateTexts } from './template-file.ts'
import { threadSettings, threadSettingsOf } from './thread-schema.ts'
import { agentSettings, agentsOf, sessionOf } from './to-agents.ts'
import { configuredWorkspace, placeSettings, worktreeOf } from './to-workspace.ts'

/** The settings in force, from what a file says. */
export const toConfiguration = (
  content: FileContent,
  milestones: SettledMilestones,
  templates: TemplateTexts,
  ofAgents: readonly SettledMilestones[] = [],
): CheckedConfiguration => {
  const whole = configurationOf(content, milestones, templates)
  const configuration = { ...whole, agents: agentsOf(content, whole, ofAgents) }
  return {
    configuration,
    settings: settingsOf(configuration, content, milestones, ofAgents),
    remarks: [...milestones.remarks, ...remarksOn(configuration)],
  }
}

const configurationOf = (
  content: FileContent,
  { settings }: SettledMilestones,
  templates: TemplateTexts,
): Omit<Configuration, 'agents'> => {
  const { session, context_monitor: monitor, restart, hooks } = content
  const budget = {
    maxRestarts: session?.max_handoffs_per_job ?? DEFAULT_RESTART_BUDGET.maxRestarts,
    deadlineMs: restart?.deadline,
    maxCostUsd: restart?.max_cost_usd,
    maxTakeovers: restart?.max_takeovers,
    whenExhausted: restart?.when_exhausted ?? DEFAULT_RESTART_BUDGET.whenExhausted,
  }
  const checkpointTimeoutMs = restart?.checkpoint_timeout ?? DEFAULT_CHECKPOINT_TIMEOUT_MS
  return defined({
    monitor: defined({
      isEnabled: monitor?.enabled ?? true,
      policy: restart?.policy,
      milestones: milestonesInForce(settings),
    }),
    contextLimit: content.context_limit,
    restart: defined({
      budget: defined(budget),
      checkpointTimeoutMs,
      idleTimeoutMs: restart?.idle_timeout,
      maxTurns: restart?.max_turns,
      personWordsTokens: restart?.person_words_tokens,
      allowUnpriced: restart?.allow_unpriced,
      template: templates.template ?? restart?.template,
      continuation: templates.continuation ?? restart?.continuation,
      softLanding: restart?.soft_landing,
      lookBack: restart?.look_back,
    }),
    session: sessionOf(session, DEFAULT_SESSION_SETTINGS),
    workspace: configuredWorkspace(content),
    worktree: worktreeOf(content),
    commandRetentionMs: content.commands?.retention ?? DEFAULT_RETENTION_MS,
    fanOut: {
      maxDepth: content.fan_out?.max_depth ?? DEFAULT_FAN_OUT.maxDepth,
      maxOpen: content.fan_out?.max_open ?? DEFAULT_FAN_OUT.maxOpen,
      maxThreads: content.fan_out?.max_threads ?? DEFAULT_FAN_OUT.maxThreads,
    },
    threads: threadSettingsOf(content),
    redact: redactionOf(content),
    hooks: toHooks(hooks ?? {}),
  })
}

const settingsOf = (
  {
    monitor,
    restart,
    contextLimit,
    session,
    agents,
    hooks,
    fanOut,
    threads,
    commandRetentionMs,
    redact,
  }: Configuration,
  content: FileContent,
  milestones: SettledMilestones,
  ofAgents: readonly SettledMilestones[],
): readonly ConfigurationSetting[] => {
  const setting = (key: string, value: ConfigurationSetting['value'] | undefined): ConfigurationSetting => ({
    key,
    value: value ?? null,
    from: isWritten(content, key) ? key : 'default',
  })
  return [
    setting('context_monitor.enabled', monitor.isEnabled),
    ...milestones.settings.map(({ name, at, paths }) => ({
      key: `milestones.${name}`,
      value: at,
      from: paths.map(pathText).join(', ') || 'default',
    })),
    setting('context_limit', contextLimit),
    setting('restart.policy', monitor.policy ?? RUN_POLICY),
    setting('session.max_handoffs_per_job', restart.budget.maxRestarts),
    setting('session.mode', session.mode),
    setting('session.timeout', session.timeoutMs),
    setting('restart.deadline', restart.budget.deadlineMs),
    setting('restart.max_cost_usd', restart.budget.maxCostUsd),
    setting('restart.allow_unpriced', restart.allowUnpriced ?? false),
    setting('restart.max_takeovers', restart.budget.maxTakeovers ?? DEFAULT_MAX_TAKEOVERS),
    setting('restart.max_turns', restart.maxTurns),
    setting('restart.person_words_tokens', restart.personWordsTokens),
    setting('restart.idle_timeout', restart.idleTimeoutMs),
    setting('restart.when_exhausted', restart.budget.whenExhausted),
    setting('restart.checkpoint_timeout', restart.checkpointTimeoutMs),
    templateSetting(setting('restart.template', restart.template), content.restart?.template_file),
    templateSetting(setting('restart.continuation', restart.continuation), content.restart?.continuation_file),
    setting('restart.soft_landing', restart.softLanding),
    setting('restart.look_back', restart.lookBack ?? true),
    ...placeSettings(content),
    setting('fan_out.max_depth', fanOut.maxDepth),
    setting('fan_out.max_open', fanOut.maxOpen),
    setting('fan_out.max_threads', fanOut.maxThreads),
    ...threadSettings(threads, setting),
    setting('commands.retention', commandRetentionMs === false ? 'forever' : commandRetentionMs),
    ...redactionSettings(redact, setting),
    ...HOOK_MOMENTS.map((moment) => setting(`hooks.${moment}`, hookNames(hooks, moment))),
    ...agentSettings(content, agents, ofAgents),
  ]
}

/** A template in a file is known by its file. */
const templateSetting = (setting: ConfigurationSetting, file: string | null | undefined): ConfigurationSetting =>
  file == null ? setting : { ...setting, from: `${setting.key}_file (${file})` }

const isWritten = (content: FileContent, key: string): boolean => {
  const [first = '', second] = key.split('.')
  const found = content[first as keyof FileContent]
  return second === undefined
    ? found != null
    : (found as Readonly<Record<string, unknown>> | null | undefined)?.[second] != null
}

const remarksOn = ({ monitor, contextLimit }: Configuration): readonly string[] => {
  const restartAt = monitor.milestones.find(({ name }) => name === 'restart')?.at
  const isAuto = (monitor.policy ?? RUN_POLICY) === 'auto'
  return [
    ...(isAuto && !monitor.isEnabled ? ['The policy is auto, but the monitor is off: nothing will be restarted.'] : []),
    ...(isAuto && restartAt === undefined
      ? ['The policy is auto, but the restart milestone is off: nothing will be restarted.']
      : []),
    ...(restartAt !== undefined && restartAt < 0.5
      ? [`Restart is at ${restartAt}, before half of the window is used. session.context_threshold is what remains.`]
      : []),
    // With a limit of one's own there is room above it.
    ...(isAuto && restartAt !== undefined && contextLimit === undefined
      ? roomProblem({ restartAt, windowTokens: USUAL_WINDOW_TOKENS })
      : []),
  ]
}
