import type { z } from 'zod'
import type { VendorRuntime } from '../../ports/agent/vendor.ts'
import { hooksSchema } from './hook-schema.ts'
import { milestonesSchema } from './milestone-schema.ts'
import { sessionSchema } from './session-schema.ts'
import { checkedText, count, list, percentage, section, text, usedOrNever, word } from './values.ts'
import { workingDirectorySchema, workspaceSchema } from './workspace-schema.ts'

/** The agents that a file can name. */
export interface KnownAgents {
  /** What a file may say of each runtime, by its name. */
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
const agentSchema = (known: KnownAgents) =>
  section({
    name: checkedText((name) => (name.trim() === '' ? { problem: 'it is empty', advice: A_NAME } : undefined), A_NAME),
    runtime: word(Object.keys(known.runtimes), otherNames(known)).optional(),
    command: text.optional(),
    model: text.optional(),
    permission_mode: text.optional(),
    context_limit: count(1, 'tokens').optional(),
    context_restart_threshold: usedOrNever.optional(),
    milestones: milestonesSchema.optional(),
    session: sessionSchema.nullish(),
    context_monitor: section({
      warning_percentage: percentage.optional(),
      critical_percentage: percentage.optional(),
    }).nullish(),
    working_directory: workingDirectorySchema.nullish(),
    workspace: workspaceSchema.nullish(),
    hooks: hooksSchema.nullish(),
  })

/** The keys that an agent may have. */
export const AGENT_KEYS: readonly string[] = Object.keys(agentSchema(NO_AGENTS).shape)

/** One agent as a file has it. */
export type AgentContent = z.output<ReturnType<typeof agentSchema>>

/** The agents of a configuration. */
export const agentsSchema = (known: KnownAgents) => list(agentSchema(known), '[{ name: reviewer, runtime: codex }]')
