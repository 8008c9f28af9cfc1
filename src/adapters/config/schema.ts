import { z } from 'zod'
import { EXHAUSTED_CHOICES } from '../../domain/run/run-configuration.ts'
import { PRESSURE_POLICIES } from '../../domain/window/context-monitor.ts'
import { agentsSchema, type KnownAgents, NO_AGENTS, sessionSchema } from './agent-schema.ts'
import { hooksSchema } from './hook-schema.ts'
import {
  milestoneList,
  milestonesByName,
  milestonesSchema,
  monitorPercentages,
  restartThreshold,
} from './milestone-claims.ts'
import { redactSchema } from './redact-schema.ts'
import { threadSchema } from './thread-schema.ts'
import {
  count,
  dollarAmount,
  duration,
  flag,
  LONGEST_STEP_MS,
  LONGEST_WORK_MS,
  retention,
  section,
  textOrOff,
  textValue,
  word,
} from './values.ts'
import { workingDirectorySchema, workspaceSchema } from './workspace-schema.ts'

/** A section without keys below it is null in YAML, and means what an absent one does. */
const keysFor = (agents: KnownAgents) => ({
  context_limit: count(1, 'tokens').optional(),
  ...restartThreshold,
  milestones: milestonesByName.optional(),
  session: sessionSchema.nullish(),
  context_monitor: section({
    enabled: flag.optional(),
    ...monitorPercentages,
  }).nullish(),
  restart: section({
    policy: word(PRESSURE_POLICIES).optional(),
    deadline: duration(LONGEST_WORK_MS).optional(),
    max_cost_usd: dollarAmount.optional(),
    max_takeovers: count(0, 'takeovers').optional(),
    max_turns: count(1, 'turns').optional(),
    person_words_tokens: count(0, 'tokens').optional(),
    idle_timeout: duration(LONGEST_STEP_MS).optional(),
    allow_unpriced: flag.optional(),
    checkpoint_timeout: duration(LONGEST_STEP_MS).optional(),
    when_exhausted: word(EXHAUSTED_CHOICES).optional(),
    template: textValue.optional(),
    template_file: textValue.optional(),
    continuation: textValue.optional(),
    continuation_file: textValue.optional(),
    soft_landing: textOrOff.optional(),
    look_back: flag.optional(),
  }).nullish(),
  threads: threadSchema(agents).nullish(),
  fan_out: section({
    max_depth: count(0, 'threads').optional(),
    max_open: count(0, 'threads').optional(),
    max_threads: count(0, 'threads').optional(),
  }).nullish(),
  commands: section({ retention: retention.optional() }).nullish(),
  redact: redactSchema.nullish(),
  hooks: hooksSchema.nullish(),
  agents: agentsSchema(agents).nullish(),
  working_directory: workingDirectorySchema.nullish(),
  workspace: workspaceSchema.nullish(),
  /** For editors: where the schema of this file is. */
  $schema: textValue.optional(),
})

/** Everything that a file may hold, in every form. */
export const fileSchema = (agents: KnownAgents) =>
  section({ ...keysFor(agents), milestones: milestonesSchema.optional() })

const byName = (agents: KnownAgents) => section(keysFor(agents))
const byList = (agents: KnownAgents) => section({ ...keysFor(agents), milestones: milestoneList })

/** A file's content, milestones aside: several keys speak of those, and they are settled apart. */
export type FileContent = Omit<z.output<ReturnType<typeof byName>>, 'milestones'>

/** The schema for a content. Which it is depends on the milestones, so that problems are about the form that was used. */
export const schemaFor = (hasMilestoneList: boolean, agents: KnownAgents): z.ZodType<FileContent> =>
  hasMilestoneList ? byList(agents) : byName(agents)

/** Where a key belongs that was written somewhere else, if it is known at all. */
export const placeOfKey = (key: string): string | undefined =>
  Object.entries(keysFor(NO_AGENTS))
    .flatMap(([name, schema]) => {
      const inner = plainSchema(schema)
      return inner instanceof z.ZodObject ? Object.keys(inner.shape).map((below) => [name, below] as const) : []
    })
    .find(([, below]) => below === key)
    ?.join('.')

const plainSchema = (schema: z.core.$ZodType): z.core.$ZodType =>
  schema instanceof z.ZodOptional || schema instanceof z.ZodNullable ? plainSchema(schema.unwrap()) : schema
