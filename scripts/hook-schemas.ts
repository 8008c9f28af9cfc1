import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { z } from 'zod'
import { HANDOFF_KINDS } from '../src/domain/handoff/handoff.ts'
import type { HookMoment, HookPayloads } from '../src/entry/hooks.ts'

/** Where the schemas stand, one file for each moment. */
export const SCHEMA_FOLDER = 'docs/schemas/hooks'

const count = z.int().nonnegative()
const text = z.string()
const maybe = text.nullable()
const object = z.strictObject

const session = object({
  session_id: text,
  agent_name: text,
  job_id: maybe,
  working_directory: maybe.describe('The root of the repository, or the folder of the work.'),
  worktree_path: maybe,
  branch_name: maybe,
})
const about = { session, original_prompt: text }

/** The payload of each moment. The types are the library's own; the compiler holds these against them. */
export const PAYLOAD_SCHEMAS = {
  after_run: object({
    hook_event_name: z.enum(['completed', 'failed', 'timeout', 'cancelled']),
    run: object({ duration_ms: z.number().nonnegative(), handoff_count: count, error: maybe }),
    ...about,
  }),
  on_error: object({
    hook_event_name: z.enum(['failed', 'timeout']),
    error: object({ code: maybe, message: text }),
    ...about,
  }),
  on_context_threshold: object({
    hook_event_name: z.literal('context_threshold'),
    context: object({
      input_tokens: count,
      context_window: count,
      usage_percent: z.number().nonnegative().describe('A fraction: 0.92 is 92 %. May be more than 1.'),
      remaining_percent: z.number().nonnegative().max(1).describe('A fraction: 0.08 is 8 %.'),
      model_name: maybe,
    }),
    ...about,
  }),
  on_session_start: object({
    hook_event_name: z.literal('session_start'),
    ...about,
    session: session.extend({
      working_directory: maybe.describe('The worktree when there is one.'),
      is_continuation: z.boolean(),
      previous_session_id: maybe,
      handoff_count: count,
    }),
    prompt: text.describe('What the session will start from; the output of the hook is put before it.'),
  }),
  after_handoff: object({
    hook_event_name: z.literal('handoff_completed'),
    handoff: object({
      handoff_id: text,
      kind: z.enum(HANDOFF_KINDS),
      reason: text,
      handoff_number: z.int().positive(),
      previous_session_id: text,
      new_session_id: text,
    }),
    ...about,
  }),
} satisfies { readonly [Moment in HookMoment]: z.ZodType<HookPayloads[Moment]> }

/** The schema of a moment as it stands in its file. */
export const schemaOf = (moment: HookMoment): object => z.toJSONSchema(PAYLOAD_SCHEMAS[moment])

/** The file of a moment. */
export const schemaFile = (moment: HookMoment): string => join(SCHEMA_FOLDER, `${moment}.json`)

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  mkdirSync(SCHEMA_FOLDER, { recursive: true })
  for (const moment of Object.keys(PAYLOAD_SCHEMAS) as HookMoment[]) {
    writeFileSync(schemaFile(moment), `${JSON.stringify(schemaOf(moment), null, 2)}\n`)
  }
}
