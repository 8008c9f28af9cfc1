import type { ContextMonitor } from '../window/context-monitor.ts'
import { RESTART } from '../window/milestone.ts'

/** Tokens that a question for a checkpoint and its answer may take. */
const ROOM_TOKENS = 10_000

/** The window that most models have, for where the model is not known. */
export const USUAL_WINDOW_TOKENS = 200_000

/** A sentence about a threshold that leaves no room to ask for a checkpoint; none when there is room. */
export const roomProblem = ({
  restartAt,
  windowTokens,
  hardTokens = windowTokens,
}: {
  readonly restartAt: number
  readonly windowTokens: number
  /** The model's whole window, when only a part of it is used. */
  readonly hardTokens?: number
}): readonly string[] => {
  const left = Math.max(0, Math.round(hardTokens - restartAt * windowTokens))
  if (left >= ROOM_TOKENS) return []
  return [
    `Restart is at ${restartAt}: of a window of ${hardTokens} tokens that leaves ${left}, too few to ask the agent for a ` +
      `checkpoint (about ${ROOM_TOKENS}). Restart earlier, or its successor may have to start without one.`,
  ]
}

/** As {@link roomProblem}, for a monitored window; no sentence where its size is not known. */
export const roomProblemOf = ({ milestones, window }: ContextMonitor): readonly string[] => {
  const restartAt = milestones.find(({ name }) => name === RESTART)?.at
  const hardTokens = window.hardLimit?.tokens
  if (restartAt === undefined || hardTokens === undefined) return []
  return roomProblem({
    restartAt,
    hardTokens,
    windowTokens: Math.min(hardTokens, window.configuredLimit ?? hardTokens),
  })
}
