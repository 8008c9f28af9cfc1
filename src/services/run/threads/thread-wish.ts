import { beginningOf } from '../../../domain/kernel/cut-text.ts'
import { defined } from '../../../domain/kernel/defined.ts'
import type { ThreadAsked } from '../../../ports/agent/agent-runtime.ts'

/** As long as a task or a document may be. */
const LONGEST = 1_000_000
const LONGEST_NAME = 300
const LONGEST_REASON = 2_000

const textIn = (raw: unknown, longest: number): string | undefined =>
  typeof raw === 'string' && raw.trim() !== '' ? beginningOf(raw, longest) : undefined

/** The wish of an agent, as far as it can be used. Agents are not trusted: it is checked like everything else that they say. */
export const wishIn = ({ to, task, reason, document }: ThreadAsked): ThreadAsked | undefined => {
  const name = textIn(to, LONGEST_NAME)?.trim()
  const work = textIn(task, LONGEST)
  if (name === undefined || work === undefined) return undefined
  return {
    to: name,
    task: work,
    ...defined({ reason: textIn(reason, LONGEST_REASON), document: textIn(document, LONGEST) }),
  }
}
