import { z } from 'zod'
import { defined } from '../../../domain/kernel/defined.ts'
import { argumentIn } from '../../../domain/turn/tool-argument.ts'
import type { RuntimeStep } from '../../../ports/agent/agent-runtime.ts'

const context = z.looseObject({
  type: z.literal('turn_context'),
  payload: z.looseObject({ sandbox_policy: z.looseObject({ type: z.string() }) }),
})

const item = z.looseObject({
  type: z.literal('response_item'),
  payload: z.looseObject({ type: z.string(), call_id: z.string() }),
})

const change = z.looseObject({
  type: z.literal('item.completed'),
  item: z.looseObject({ type: z.literal('file_change'), status: z.literal('completed') }),
})

/** Codex's own words in place of a patch's result. */
const PATCH_REJECTED = /^patch rejected: /
const FAILED = /^Process exited with code [1-9]\d*$/m

/** Whether a command failed, and the system's own words for a refused write stand in its output after that. */
const isReadOnly = (output: string): boolean => {
  const failed = output.search(FAILED)
  return failed !== -1 && output.indexOf('Read-only file system', failed) !== -1
}

/** The next sandbox that allows what one refused. */
const WIDER: Readonly<Record<string, string>> = {
  'read-only': 'workspace-write',
  'workspace-write': 'danger-full-access',
}

type Noted = Pick<RuntimeStep<never>, 'refused' | 'writes'>

/** Notes which tool calls of one launch the sandbox refused, and which patches were applied. */
export class CodexPermissions {
  readonly #open = new Map<string, unknown>()
  #sandbox = 'read-only'

  /** The patches that an event tells of. */
  ofEvent(event: unknown): Noted {
    return change.safeParse(event).success ? { writes: 1 } : {}
  }

  /** The refusals that a line of the rollout tells of. */
  ofRecord(record: unknown): Noted {
    const turn = context.safeParse(record)
    if (turn.success) this.#sandbox = turn.data.payload.sandbox_policy.type
    const parsed = item.safeParse(record)
    if (!parsed.success) return {}
    const { type, call_id: callId, output, ...call } = parsed.data.payload
    if (!type.endsWith('_call_output')) {
      this.#open.set(callId, call.arguments ?? call.input)
      return {}
    }
    const input = inputOf(this.#open.get(callId))
    this.#open.delete(callId)
    const text = typeof output === 'string' ? output : ''
    const toolName = PATCH_REJECTED.test(text) ? 'apply_patch' : this.#isBlocked(text) ? 'shell' : undefined
    if (toolName === undefined) return {}
    const allowedBy = WIDER[this.#sandbox]
    return { refused: [defined({ toolName, argument: argumentIn(input), isWrite: true, allowedBy })] }
  }

  /** A file system may be read-only without a sandbox too, so the words alone say nothing. */
  #isBlocked(output: string): boolean {
    return this.#sandbox !== 'danger-full-access' && isReadOnly(output)
  }
}

const inputOf = (given: unknown): unknown => {
  if (typeof given !== 'string') return given
  try {
    return JSON.parse(given)
  } catch {
    return given
  }
}
