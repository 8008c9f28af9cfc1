import type { ThreadTree } from './delegated-thread.ts'

/** How far work may be delegated. */
export interface FanOutLimits {
  /** How many conversations may stand above a thread; 3 unless given. */
  readonly maxDepth: number
  /** How many threads of one conversation may wait to be reported at the same time; 8 unless given. */
  readonly maxOpen: number
  /** How many threads the whole tree of a conversation may have, over all its life; 50 unless given. */
  readonly maxThreads: number
}

/** Enough for a planner and its coders, and too few for agents that delegate without end. */
export const DEFAULT_FAN_OUT: FanOutLimits = { maxDepth: 3, maxOpen: 8, maxThreads: 50 }

/** The reasons why nothing more is delegated, by their codes. */
export type FanOutRefusal = 'thread.too_deep' | 'thread.too_many_open' | 'thread.too_many'

/** Why a conversation may delegate nothing more now, in a sentence for the agent; nothing when it may. */
export const whyNotDelegated = (
  { depth, threads }: Pick<ThreadTree, 'depth' | 'threads'>,
  open: number,
  { maxDepth, maxOpen, maxThreads }: FanOutLimits,
): { readonly code: FanOutRefusal; readonly message: string } | undefined => {
  if (depth >= maxDepth)
    return {
      code: 'thread.too_deep',
      message: `You are ${depth} threads deep, which is as deep as work may be delegated. Do this part yourself.`,
    }
  if (open >= maxOpen)
    return {
      code: 'thread.too_many_open',
      message: `${open} threads are at work for you, and no more may be. End your turn: you are told their outcomes.`,
    }
  if (threads >= maxThreads)
    return {
      code: 'thread.too_many',
      message: `This work has had ${threads} threads, which is as many as it may have. Do this part yourself.`,
    }
  return undefined
}
