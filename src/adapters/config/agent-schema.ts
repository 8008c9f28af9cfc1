import type { z } from 'zod'
import { AGENT_RUNTIMES } from '../../domain/run/agent-settings.ts'
import { SESSION_MODES } from '../../domain/run/session-settings.ts'
import { hooksSchema } from './hook-schema.ts'
import { milestonesSchema, monitorPercentages, restartThreshold, sessionThresholds } from './milestone-claims.ts'
import { checkedText, count, duration, LONGEST_WORK_MS, list, section, text, word } from './values.ts'
import { workingDirectorySchema, workspaceSchema } from './workspace-schema.ts'

/** Keys about sessions, of a whole configuration or of one agent. */
export const sessionSchema = section({
  ...sessionThresholds,
  max_handoffs_per_job: count(0, 'restarts').optional(),
  mode: word(SESSION_MODES).optional(),
  timeout: duration(LONGEST_WORK_MS).optional(),
})

/** Names by which people know these runtimes elsewhere. */
const OTHER_NAMES = { 'claude-code': 'claude', 'claude-agent-sdk': 'claude-sdk', 'codex-cli': 'codex' } as const

const A_NAME = 'Write a name such as reviewer.'

/** Keys about one agent. What it does not say is as the whole configuration says. */
const agentSchema = section({
  name: checkedText((name) => (name.trim() === '' ? { problem: 'it is empty', advice: A_NAME } : undefined), A_NAME),
  runtime: word(AGENT_RUNTIMES, OTHER_NAMES).optional(),
  command: text.optional(),
  model: text.optional(),
  permission_mode: text.optional(),
  context_limit: count(1, 'tokens').optional(),
  ...restartThreshold,
  milestones: milestonesSchema.optional(),
  session: sessionSchema.nullish(),
  context_monitor: section(monitorPercentages).nullish(),
  working_directory: workingDirectorySchema.nullish(),
  workspace: workspaceSchema.nullish(),
  hooks: hooksSchema.nullish(),
})

/** The keys that an agent may have. */
export const AGENT_KEYS: readonly string[] = Object.keys(agentSchema.shape)

/** One agent as a file has it. */
export type AgentContent = z.output<typeof agentSchema>

/** The agents of a configuration. */
export const agentsSchema = list(agentSchema, '[{ name: reviewer, runtime: codex }]')
