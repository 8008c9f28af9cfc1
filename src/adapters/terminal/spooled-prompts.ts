import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { readPrivate } from './private-files.ts'

const post = z.looseObject({
  event: z.literal('user-prompt-submit'),
  commandId: z.string(),
  payload: z.looseObject({ session_id: z.string(), prompt: z.string(), agent_id: z.undefined().optional() }),
})

/** The prompts of a session in the spool, oldest first. What cannot be read says nothing, and is left to the spool. */
export const spooledPrompts = async (
  spool: string,
  providerSessionId: string,
): Promise<readonly { readonly by: string; readonly text: string }[]> => {
  const names = await readdir(spool).catch(() => [])
  const files = names.filter((name) => name.endsWith('.json')).sort()
  const found = files.map((name) => promptIn(join(spool, name)))
  return found.flatMap((one) => (one?.session === providerSessionId ? [{ by: one.by, text: one.text }] : []))
}

const promptIn = (path: string) => {
  try {
    // Through the same door as every private file: no pipe is waited for, and no link followed.
    const data = readPrivate(path, post)
    return data && { by: data.commandId, session: data.payload.session_id, text: data.payload.prompt }
  } catch {
    return undefined // it was taken meanwhile, or cannot be read
  }
}
