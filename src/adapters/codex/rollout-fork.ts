import { z } from 'zod'
import type { TranscriptFork } from '../../ports/terminal/terminal-files.ts'
import { RolloutTail } from './rollout-tail.ts'

const meta = z.object({ type: z.literal('session_meta'), payload: z.object({ forked_from_id: z.string() }) })

/** Finds the session that a rollout is a fork of: its first record names it, and nothing is copied. */
export const codexForkOf = async (path: string): Promise<readonly TranscriptFork[]> => {
  for await (const record of new RolloutTail(path).records()) {
    const { data } = meta.safeParse(record)
    return data === undefined ? [] : [{ source: data.payload.forked_from_id, copied: 0 }]
  }
  return []
}
