import type { z } from 'zod'
import { SESSION_MODES } from '../../domain/run/session-settings.ts'
import type { VendorRuntime } from '../../ports/agent/vendor.ts'
import { hooksSchema } from './hook-schema.ts'
import { milestonesSchema, monitorPercentages, restartThreshold, sessionThresholds } from './milestone-claims.ts'
import { checkedText, count, duration, LONGEST_WORK_MS, list, section, textValue, word } from './values.ts'
import { workingDirectorySchema, workspaceSchema } from './workspace-schema.ts'

/** Keys about sessions, of a whole configuration or of one agent. */
export const sessionSchema = section({
  ...sessionThresholds,
  max_handoffs_per_job: count(0, 'restarts').optional(),
  mode: word(SESSION_MODES).optional(),
  timeout: duration(LONGEST_WORK_MS).optional(),
})

/** The agents that a file can name. */
export interface KnownAgents {
  /** The keys that a file may have about each runtime, by its name. */
  readonly runtimes: Readonly<Record<string, Pick<VendorRuntime, 'otherName' | 'permissionModes' | 'takesCommand'>>>
  /** The agents that write summaries. */
  readonly summarizers: readonly string[]
}

/** None: for questions that are not about agents. */
export const NO_AGENTS: KnownAgents = { runtimes: {}, summarizers: [] }

const otherNames = ({ runtimes }: KnownAgents): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(runtimes).flatMap(([name, { otherName }]) => (otherName ? [[otherName, name]] : [])),
  )

const A_NAME = 'Write a name such as reviewer.'

/** Keys about one agent. What it does not say is as the whole configuration says. */
const agentSchema = (agents: KnownAgents) =>
  section({
    name: checkedText((name) => (name.trim() === '' ? { problem: 'it is empty', advice: A_NAME } : undefined), A_NAME),
    runtime: word(Object.keys(agents.runtimes), otherNames(agents)).optional(),
    command: textValue.optional(),
    model: textValue.optional(),
    permission_mode: textValue.optional(),
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
export const AGENT_KEYS: readonly string[] = Object.keys(agentSchema(NO_AGENTS).shape)

/** One agent as a file has it. */
export type AgentContent = z.output<ReturnType<typeof agentSchema>>

/** The agents of a configuration. */
export const agentsSchema = (agents: KnownAgents) => list(agentSchema(agents), '[{ name: reviewer, runtime: codex }]')
