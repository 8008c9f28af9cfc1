import { z } from 'zod'
import { SIGNAL_DELIVERIES, SIGNAL_KINDS } from '../../domain/session/context-signal.ts'
import { WINDOW_ENDS } from '../../domain/window/window-level.ts'
import { PROVIDER_SESSION } from '../../ports/terminal/terminal-files.ts'
import type {
  HandoffPost,
  HookFacts,
  HookPost,
  HookReply,
  SignalPost,
  UnsentHandoff,
} from '../../ports/terminal/wire.ts'
import { HOOK_OUTCOMES, TERMINAL_HOOK_EVENTS } from '../../services/terminal/hook-event.ts'

const LONGEST_PATH = 4_096
const LONGEST_NAME = 300
/** A megabyte of text. */
const LONGEST_DOCUMENT = 1_048_576

/** The runtime's own name for a session. */
export const providerSession = z.string().regex(PROVIDER_SESSION).describe('The runtime’s own id of the session.')

const name = z.string().trim().min(1).max(LONGEST_NAME)
const path = z.string().min(1).max(LONGEST_PATH)
const maybe = z.string().nullable()
const uuid = z.guid()
const time = z.iso.datetime({ offset: true })
/** A detail that is left out where it is not what it should be: a hook's input is another program's. */
const detail = <T extends z.ZodType>(schema: T) => schema.optional().catch(undefined)

/** A schema for every part of what hooks and the service tell each other: one that is forgotten or misnamed does not compile. */
type PartsOf<T> = { readonly [K in keyof T]-?: z.ZodType<T[K] | undefined> }

/** The hook's own input, as far as it is used. */
const hookPayload = z.looseObject({
  session_id: providerSession,
  transcript_path: detail(path),
  cwd: detail(path),
  agent_id: detail(z.string().max(LONGEST_NAME)),
  source: detail(name),
  model: detail(name),
  trigger: detail(name),
  reason: detail(name),
  prompt: detail(z.string()),
  parent_session_id: detail(uuid).describe('The session that started this one, by our id.'),
  within: detail(z.string().regex(PROVIDER_SESSION)).describe(
    'The session inside of whose tools this one was started.',
  ),
  variables: detail(z.record(z.string().max(LONGEST_NAME), z.string().max(LONGEST_NAME))).describe(
    'The variables that say where the runtime compacts by itself; of a session-start.',
  ),
  signals: z.array(uuid).max(1_000).optional().describe('The signals that were passed on; of an ack.'),
} satisfies PartsOf<Omit<HookFacts, 'hidden_secrets'>>)

/** The body of an event of one of these agents; a file of the spool holds the same. */
export const hookEventBody = (agents: readonly string[]) =>
  z.object({
    v: z.literal(1),
    commandId: uuid.describe('Delivered again under the same id, an event changes nothing.'),
    at: time.optional().catch(undefined).describe('When the hook was called, by the clock of its machine.'),
    event: z.enum(TERMINAL_HOOK_EVENTS),
    runtime: z.enum(agents),
    waitMs: z
      .int()
      .min(0)
      .optional()
      .catch(undefined)
      .describe('How long the answer may wait for the transcript to have the tool calls of the event.'),
    payload: hookPayload,
  } satisfies PartsOf<Omit<HookPost, 'payload'>> & { readonly payload: z.ZodType })

/** A signal on its way to an agent or a person. */
export const signal = z.object({
  id: uuid,
  kind: z.enum(SIGNAL_KINDS),
  milestone: maybe,
  delivery: z.enum(SIGNAL_DELIVERIES),
  text: z.string(),
  for: z.enum(['agent', 'person']),
} satisfies PartsOf<SignalPost>)

/** The answer to an event. */
export const hookAnswer = z.object({
  outcome: z.enum(HOOK_OUTCOMES),
  session_id: uuid.nullable(),
  signals: z.array(signal),
  inject: maybe.describe('A text that the session is to begin with.'),
  notice: maybe.describe('A sentence for the person.'),
} satisfies PartsOf<HookReply>)

/** A sample of a window, or news of it. */
export const contextUsageBody = z.object({
  session_id: providerSession,
  producer_time: time.optional(),
  context_window: z.looseObject({}).optional().describe('As in the input of a status line.'),
  event: z.enum(['compaction', 'compaction_complete', 'context_reset']).optional(),
})

/** The outcome of a sample or of news. */
export const contextUsageAnswer = z.object({
  status: z.enum(['ok', 'compaction_logged', 'flags_reset', 'stale_sample', 'not_registered', 'unknown_session']),
})

/** Milestones: fractions of the usable window, or names and fractions. */
export const milestones = z
  .array(z.union([z.number(), z.strictObject({ name, at: z.number() })]))
  .min(1)
  .max(20)

/** A terminal session of one of these agents, to register. */
export const registerBody = (agents: readonly string[]) =>
  z.strictObject({
    provider_session_id: providerSession,
    runtime: z.enum(agents),
    cwd: path.optional(),
    model: name.optional(),
    parent_session_id: uuid.optional(),
    milestones: milestones.optional(),
  })

const level = z.union([
  z.object({
    state: z.literal('known'),
    ratio: z.number().describe('Used over usable; may pass 1.'),
    percent: z.int().describe('The same in whole percent, rounded down, as people are shown it.'),
    used_tokens: z.number().nullable(),
    window_tokens: z.number().nullable().describe('The usable window.'),
    window_end: z.enum(WINDOW_ENDS).nullable().describe('What the usable window ends with.'),
    whole_window_tokens: z.number().nullable().describe('The whole window of the model.'),
    text: z.string().describe('The level in words.'),
  }),
  z.object({ state: z.enum(['unknown', 'compacting']) }),
])

/** A document that waits for the next session of its workspace. */
export const pendingAnswer = z.object({
  document_id: uuid,
  workspace: z.string(),
  path: z.string().describe('The document as a file.'),
  written_at: z.string(),
  expires_at: z.string().describe('From then on nobody is given it.'),
})

/** A session in few words. */
export const sessionSummary = z.object({
  session_id: uuid,
  conversation_id: uuid,
  provider_session_id: maybe,
  agent_name: z.string(),
  state: z.string(),
  epoch: z.int(),
  turns: z.int(),
  started_at: z.string(),
})

/** A session with its window and its newest handoff. */
export const sessionAnswer = sessionSummary.extend({
  parent_session_id: uuid.nullable(),
  level,
  monitor: z.object({
    enabled: z.boolean(),
    milestones: z.array(z.object({ name: z.string(), at: z.number() })),
    notify: z.enum(['self', 'parent']).nullable(),
  }),
  last_handoff_path: maybe,
  pending_document: pendingAnswer.nullable().describe('The document that it left for the next session.'),
  last_handoff: z
    .object({ handoff_id: uuid, kind: z.string(), status: z.string(), reason: z.string(), document: maybe })
    .nullable(),
})

/** The sessions there are, newest first. */
export const sessionList = z.object({ sessions: z.array(sessionSummary), next: maybe })

const toolCall = z.strictObject({ call_id: name, tool_name: name, argument: z.string().max(20_000).optional() })
const message = z.union([
  z.strictObject({ role: z.literal('assistant'), text: z.string(), tool_calls: z.array(toolCall).optional() }),
  z.strictObject({ role: z.enum(['user', 'tool', 'system']), text: z.string() }),
])
const count = z.int().nonnegative()
const usage = z.union([
  z.strictObject({ prompt_tokens: count, output_tokens: count }).describe('Of this one request; never a sum.'),
  z.strictObject({ used_percentage: z.number().nonnegative() }),
])

/** Turns to record, all or none. */
export const turnsBody = z.strictObject({
  command_id: uuid.optional(),
  turns: z
    .array(
      z.strictObject({
        messages: z.array(message).min(1),
        usage: usage.optional(),
        window_tokens: z.number().positive().optional(),
        producer_time: time.optional(),
      }),
    )
    .min(1)
    .max(100),
})

/** The turns that were recorded. */
export const turnsAnswer = z.object({ session_id: uuid, turn_ids: z.array(uuid), turns: z.int() })

/** How a window is watched from now on. */
export const monitorBody = z.strictObject({
  milestones: milestones.optional(),
  context_limit: z.int().positive().optional(),
  notify: z.string().min(1).max(LONGEST_NAME).optional().describe('self, parent, or the id of either.'),
})

/** How a window is watched. */
export const monitorAnswer = z.object({
  enabled: z.boolean(),
  milestones: z.array(z.object({ name: z.string(), at: z.number() })),
})

/** Signals that were passed on. */
export const ackBody = z.strictObject({ signals: z.array(uuid).max(1_000) })

/** A handoff that the agent asks for itself. */
export const handoffBody = z.strictObject({
  document: z
    .string()
    .min(1)
    .max(LONGEST_DOCUMENT)
    .optional()
    .describe('What the successor needs; markdown. Needed unless another agent is named.'),
  reason: z.string().min(1).max(20_000).optional(),
  target_agent: name.optional().describe('The same agent in a fresh window unless named.'),
  command_id: uuid.optional(),
})

/** A handoff that was kept in the spool because no service could be asked, of a session or of the one that works in a folder. */
export const keptHandoff = z.object({
  v: z.literal(1),
  commandId: uuid,
  at: time.optional().catch(undefined),
  handoff: z.strictObject({
    ...handoffBody.omit({ command_id: true }).shape,
    session: z.string().min(1).max(LONGEST_NAME).optional(),
    working_in: path.optional(),
  } satisfies PartsOf<UnsentHandoff>),
} satisfies PartsOf<Omit<HandoffPost, 'handoff'>> & { readonly handoff: z.ZodType })

/** The document that waits, or the handoff that was begun. */
export const handoffAnswerSchema = z.object({
  handoff_id: uuid.nullable().describe('Absent while the document waits.'),
  kind: z.string(),
  status: z.string().describe('pending while the document waits for the next session of its workspace.'),
  path: maybe,
  pending_document: pendingAnswer.nullable(),
  replaced: z.boolean().describe('Whether another document waited, and does not any more.'),
})

/** Why a request got no answer. */
export const problem = z.object({ error: z.object({ code: z.string(), message: z.string() }) })
