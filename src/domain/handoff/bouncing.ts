import type { HandoffMetadata } from './handoff.ts'

/** A handoff, as far as it tells whether anything was done before it. */
export type PassedOn = Pick<
  HandoffMetadata,
  'kind' | 'status' | 'sourceAgent' | 'targetAgent' | 'triggeringToolCalls' | 'priorTurnId'
>

/** The name of our own tool with which an agent hands over; runtimes put the name of its server before it. */
const HANDOFF_TOOL = /(^|_)handoff$/

/** Three times there and back. */
const MOST_BOUNCES = 6

/**
 * Whether two agents only hand the work to each other: the latest handoffs, newest first, are all between the same two,
 * and no tool was used before any of them but the one that hands over.
 */
export const isBouncing = (newestFirst: readonly PassedOn[]): boolean => {
  const [newest] = newestFirst
  if (newest === undefined) return false
  const pair = pairOf(newest)
  const idle = newestFirst.findIndex((one) => !(isIdle(one) && pairOf(one) === pair))
  return (idle === -1 ? newestFirst.length : idle) > MOST_BOUNCES
}

const pairOf = ({ sourceAgent, targetAgent }: PassedOn): string => JSON.stringify([sourceAgent, targetAgent].toSorted())

const isIdle = ({ kind, status, triggeringToolCalls }: PassedOn): boolean =>
  kind === 'agent_transfer' &&
  status !== 'cancelled' &&
  status !== 'failed' &&
  triggeringToolCalls.every(({ toolName }) => HANDOFF_TOOL.test(toolName))
