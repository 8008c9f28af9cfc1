import { createReadStream } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { z } from 'zod'

/** The variables a session is kept by. */
export type Environment = Readonly<Record<string, string | undefined>>

const spoken = z.looseObject({ type: z.enum(['user', 'assistant']), isSidechain: z.literal(false).optional() })

/** Any other id would be a path. */
const ID = /^[\w-]+$/

/**
 * Whether a session is kept and has been spoken in. It is looked for where the command keeps it in that environment:
 * the SDK's own functions know the environment of our process only. All projects are looked through, because a project
 * is named after a directory by rules that have changed.
 */
export const hasSession = async (id: string, environment: Environment): Promise<boolean> => {
  if (!ID.test(id)) return false
  const { CLAUDE_CONFIG_DIR: configured, HOME: home = homedir() } = environment
  const projects = join(configured ?? join(home, '.claude'), 'projects')
  for (const project of await readdir(projects).catch(() => [])) {
    if (await isSpokenIn(join(projects, project, `${id}.jsonl`))) return true
  }
  return false
}

const isSpokenIn = async (path: string): Promise<boolean> => {
  const lines = createInterface({ input: createReadStream(path, 'utf8'), crlfDelay: Number.POSITIVE_INFINITY })
  try {
    for await (const line of lines) if (spoken.safeParse(parsed(line)).success) return true
    return false
  } catch {
    return false // it is not in this project
  } finally {
    lines.close()
  }
}

const parsed = (line: string): unknown => {
  try {
    return JSON.parse(line)
  } catch {
    return undefined
  }
}
