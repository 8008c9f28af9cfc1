import { describeThrown } from '../../domain/describe-thrown.ts'

/** Somebody else works the session now: whatever this run does from here on is not taken. */
export class SupersededError extends Error {
  override readonly name = 'SupersededError'
  readonly code = 'run.superseded'
}

/** The run was called off. */
export class RunCancelled extends Error {
  override readonly name = 'RunCancelled'
  readonly code = 'run.cancelled'
}

/** The time of the conversation is over. */
export class RunTimedOut extends Error {
  override readonly name = 'RunTimedOut'
  readonly code = 'run.timed_out'
}

/** What went wrong, as a sentence. */
export const messageOf = (error: unknown): string => describeThrown(error)
