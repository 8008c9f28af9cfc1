/** What a new session opens with: the task from our record, never from a summary, and what the outgoing agent left. */
export const continuationFor = (originalTask: string, document: string | undefined): string =>
  document === undefined ? originalTask : `${originalTask}\n\n${document}`
