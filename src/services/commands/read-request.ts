import type { RestartBudget } from '../../domain/budget/restart-budget.ts'
import { redactPrompt } from '../../domain/checkpoint/fenced-prompt.ts'
import { type Check, type InputProblem, objectOf, optional } from '../../domain/input/check.ts'
import { restartBudget } from '../../domain/input/details.ts'
import { monitorSettings } from '../../domain/input/readings.ts'
import { canonicalJson } from '../../domain/kernel/canonical-json.ts'
import { defined } from '../../domain/kernel/defined.ts'
import { commandId } from '../../domain/kernel/ids.ts'
import { err, ok, type Result } from '../../domain/kernel/result.ts'
import { redactTexts } from '../../domain/kernel/texts.ts'
import type { Refusal } from '../../domain/refusal.ts'
import { RefusedError } from '../../domain/unwrap.ts'
import type { MonitorSettings } from '../../domain/window/context-monitor.ts'
import type { CommandStamp } from '../../ports/store/unit-of-work.ts'
import type { IdGenerator } from '../../ports/system/system.ts'
import type { Field, Fields } from './command.ts'
import type { CommandContext } from './command-context.ts'
import { issuedKind } from './issued-objects.ts'
import type { Repeatable } from './requests.ts'

/** The part of a definition that reading a request needs. */
interface Readable<R> {
  readonly name: string
  readonly fields: Fields<R>
  readonly check: Check<R>
}

/** A plain copy of what a caller asked, with its texts redacted; or everything that is wrong with it. */
export const readRequest = <R extends object>(
  { check, fields }: Readable<R>,
  raw: unknown,
  { redact }: Pick<CommandContext, 'redact'>,
): Result<R, Refusal> => {
  const read = checked(check, raw)
  if (!read.ok) return read
  const prompts = redactedPrompts(read.value, fields, redact)
  if (!prompts.ok || redact === undefined) return prompts
  // A redactor may leave a text blank, which is as wrong as a blank one that was sent.
  return checked(check, redacted(prompts.value, fields, redact))
}

/** The request with its prompts redacted around their fences. A fence must be unique, whether or not there is a redactor. */
const redactedPrompts = <R extends object>(
  request: R,
  fields: Fields<R>,
  redact: (text: string) => string = (text) => text,
): Result<R, Refusal> => {
  const { nonce } = request as { readonly nonce?: string }
  const prompts: Record<string, string> = {}
  for (const [name, value] of Object.entries(request)) {
    const { isPrompt } = fields[name as keyof R] as Field<unknown>
    if (isPrompt === undefined || typeof value !== 'string') continue
    const prompt = redactPrompt(value, { redact, mayQuote: isPrompt === 'written', ...defined({ nonce }) })
    if (!prompt.ok) return err({ code: 'prompt.fence_not_unique', field: name, fence: prompt.error.fence })
    prompts[name] = prompt.value
  }
  return ok({ ...request, ...prompts })
}

/** Refuses defaults that no session and no conversation could start with. @throws RefusedError */
export const checkDefaults = ({ monitor, restartBudget: budget }: Partial<CommandContext>): void => {
  const read = checked(DEFAULTS, defined({ monitor, restartBudget: budget }))
  if (!read.ok) throw new RefusedError(read.error)
}

const DEFAULTS = objectOf<{ monitor?: MonitorSettings; restartBudget?: RestartBudget }>({
  monitor: optional(monitorSettings),
  restartBudget: optional(restartBudget),
})

const checked = <R>(check: Check<R>, raw: unknown): Result<R, Refusal> => {
  const problems: InputProblem[] = []
  const read = check(raw, '', problems)
  if (problems.length === 0) return ok(read)
  const named = problems.map(({ field, problem }) => ({ field: field === '' ? 'request' : field, problem }))
  return err({ code: 'input.invalid', fields: named })
}

/** The request with its texts redacted. Objects that a command answered with are left as they are. */
const redacted = <R extends object>(request: R, fields: Fields<R>, redact: (text: string) => string): R => {
  const whole: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(request)) {
    const field = fields[name as keyof R] as Field<unknown>
    const isRedacted = field.isContent && field.isPrompt === undefined && issuedKind(value) === undefined
    whole[name] = isRedacted ? redactTexts({ [name]: value }, redact)[name] : value
  }
  return whole as R
}

/**
 * Names a command, by the caller's id or a new one, and says what it asks. Nobody else knows a new id, so nobody can use
 * it for something else, and what was asked need not be written out.
 */
export const stampOf = <R extends Repeatable>(
  { name, fields }: Readable<R>,
  request: R,
  ids: IdGenerator,
): CommandStamp => {
  const { commandId: named } = request
  if (named === undefined) return { id: commandId(ids.next()), payload: name }
  const content: Record<string, unknown> = {}
  for (const [field, value] of Object.entries(request)) {
    if ((fields[field as keyof R] as Field<unknown>).isContent)
      content[field] = issuedKind(value) === undefined ? value : (value as { readonly id: string }).id
  }
  return { id: named, payload: canonicalJson([name, content]), isNamed: true }
}
