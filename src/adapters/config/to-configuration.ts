import { DEFAULT_RETENTION_MS } from '../../domain/command-retention.ts'
import {
  type CheckedConfiguration,
  type Configuration,
  type ConfigurationSetting,
  DEFAULT_CHECKPOINT_TIMEOUT_MS,
} from '../../domain/configuration.ts'
import type { Workspace } from '../../domain/conversation.ts'
import { defined } from '../../domain/defined.ts'
import { HOOK_MOMENTS, type HookSettings } from '../../domain/hook-settings.ts'
import { milestonesInForce, pathText, type SettledMilestones } from '../../domain/milestone-settings.ts'
import { DEFAULT_MAX_TAKEOVERS, DEFAULT_RESTART_BUDGET } from '../../domain/restart-budget.ts'
import { roomProblem, USUAL_WINDOW_TOKENS } from '../../domain/room-to-ask.ts'
import { toHooks } from './hook-schema.ts'
import type { FileContent } from './schema.ts'
import type { TemplateTexts } from './template-file.ts'

/** The settings in force, from what a file says. */
export const toConfiguration = (
  content: FileContent,
  milestones: SettledMilestones,
  templates: TemplateTexts,
): CheckedConfiguration => {
  const configuration = configurationOf(content, milestones, templates)
  return {
    configuration,
    settings: settingsOf(configuration, content, milestones),
    remarks: [...milestones.remarks, ...remarksOn(configuration)],
  }
}

const configurationOf = (
  content: FileContent,
  { settings }: SettledMilestones,
  templates: TemplateTexts,
): Configuration => {
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
    monitor: {
      isEnabled: monitor?.enabled ?? true,
      policy: restart?.policy ?? 'advise',
      milestones: milestonesInForce(settings),
    },
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
    }),
    workspace: workspaceOf(content),
    commandRetentionMs: content.commands?.retention ?? DEFAULT_RETENTION_MS,
    hooks: toHooks(hooks ?? {}),
  })
}

const workspaceOf = ({ workspace }: FileContent): Workspace | undefined => {
  const { working_directory: workingDirectory, worktree_path: worktreePath, branch } = workspace ?? {}
  const place = defined({ workingDirectory, worktreePath, branch })
  return Object.keys(place).length === 0 ? undefined : place
}

const settingsOf = (
  { monitor, restart, contextLimit, workspace, hooks, commandRetentionMs }: Configuration,
  content: FileContent,
  milestones: SettledMilestones,
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
    setting('restart.policy', monitor.policy),
    setting('session.max_handoffs_per_job', restart.budget.maxRestarts),
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
    setting('workspace.working_directory', workspace?.workingDirectory),
    setting('workspace.worktree_path', workspace?.worktreePath),
    setting('workspace.branch', workspace?.branch),
    setting('commands.retention', commandRetentionMs === false ? 'forever' : commandRetentionMs),
    ...HOOK_MOMENTS.map((moment) => setting(`hooks.${moment}`, namesAt(hooks, moment))),
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

/** Hooks by name or type only: addresses and headers may hold secrets. */
const namesAt = (hooks: readonly HookSettings[], moment: string): string | undefined =>
  hooks
    .filter((hook) => hook.moment === moment)
    .map(({ name, type }) => (name === undefined ? type : `${name} (${type})`))
    .join(', ') || undefined

const remarksOn = ({ monitor, contextLimit }: Configuration): readonly string[] => {
  const restartAt = monitor.milestones.find(({ name }) => name === 'restart')?.at
  const isAuto = monitor.policy === 'auto'
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
