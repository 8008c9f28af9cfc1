import type { TurnFacts } from '../facts.ts'
import type { HandoffId } from '../kernel/ids.ts'
import { type Refusal, refuseForAll } from '../refusal.ts'
import type { MessageInput } from '../turn/turn.ts'

/** The threads whose outcome these messages report, in their order. */
export const reportsIn = (messages: readonly MessageInput[]): readonly HandoffId[] =>
  messages.flatMap(({ reports }) => reports ?? [])

/** Every reason against these reports: there is no such thread of the conversation, or its outcome is on record. */
export const refusedReports = (
  reported: readonly HandoffId[],
  threads: NonNullable<TurnFacts['threads']>,
): Refusal | undefined =>
  refuseForAll(
    reported.flatMap((handoffId, index): readonly Refusal[] => {
      const thread = threads.find((candidate) => candidate.handoffId === handoffId)
      if (thread === undefined) return [{ code: 'handoff.not_found', handoffId }]
      const isRepeated = thread.isReported || reported.indexOf(handoffId) < index
      return isRepeated ? [{ code: 'thread.reported', handoffId }] : []
    }),
  )
