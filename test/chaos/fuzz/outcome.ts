import type { Result } from '../../../src/domain/kernel/result.ts'
import type { Refusal } from '../../../src/domain/refusal.ts'
import type { AnyAnswer } from '../crew/world.ts'

/** What a request came to on one store. */
export interface Outcome {
  /** In a few words that are the same on every store when the outcome is. */
  readonly says: string
  readonly isThrown: boolean
  readonly answer?: AnyAnswer
}

/** Nobody waits longer than this for an answer to a wrong request. */
const PATIENCE_MS = 30_000

/** Sends a request and describes what came of it; nothing is thrown here, however the request was meant. */
export const outcomeOf = async (
  send: () => Promise<unknown>,
  learn: (answer: AnyAnswer) => void = () => {},
): Promise<Outcome> => {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error('It gave no answer')), PATIENCE_MS)
  })
  try {
    // A command may also throw before it gives a promise.
    const result = (await Promise.race([(async () => send())(), late])) as Result<AnyAnswer, Refusal>
    if (result.ok) learn(result.value)
    if (result.ok) return { says: `ok ${standing(result.value)}`, isThrown: false, answer: result.value }
    return { says: `refused ${refusal(result.error)}`, isThrown: false }
  } catch (problem) {
    return { says: `threw ${described(problem)}`, isThrown: true }
  } finally {
    clearTimeout(timer)
  }
}

/** What of an answer does not depend on the clock of a store. */
const standing = ({ conversation, session, handoff }: AnyAnswer): string =>
  [
    conversation?.id,
    session && `${session.id} ${session.state} ${session.version}`,
    handoff && `${handoff.id} ${handoff.status}`,
  ]
    .filter((part) => part !== undefined)
    .join(', ')

const refusal = (error: Refusal): string => {
  if (error.code === 'several') return error.reasons.map(refusal).join(' + ')
  const fields = 'field' in error ? [error.field] : 'fields' in error ? [JSON.stringify(error.fields)] : []
  return [error.code, ...fields].join(' ')
}

const described = (problem: unknown): string => {
  if (!(problem instanceof Error)) return `something that is no error`
  const code = 'code' in problem ? String(problem.code) : problem.message.slice(0, 80)
  return `${problem.name} ${code}`
}

/** The outcome without ids, to count alike ones together. */
export const inShort = ({ says }: Outcome): string =>
  says.replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27}/g, '…').replace(/^ok .*/, 'ok')
