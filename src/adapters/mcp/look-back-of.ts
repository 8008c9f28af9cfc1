import { err } from '../../domain/kernel/result.ts'
import { describeRefusal } from '../../domain/refusal.ts'
import type { Access } from './access.ts'
import type { AskLookBack } from './look-back-tool.ts'

/** Answers questions for the caller's own session. */
export const lookBackOf =
  (access: Access): AskLookBack =>
  async (asked, caller) => {
    const own = await access.own(caller)
    if (!own.ok) return own
    const { lookBack } = await access.services()
    const answer = await lookBack.ask({ session: own.value.id, ...asked })
    return answer.ok ? answer : err({ code: answer.error.code, message: describeRefusal(answer.error) })
  }
