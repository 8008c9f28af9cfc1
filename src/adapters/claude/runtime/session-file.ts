import { createReadStream } from 'node:fs'
import { readdir, realpath } from 'node:fs/promises'
import { homedir } from 'node:os'
import { join, resolve } from 'node:path'
import { z } from 'zod'
import type { TranscriptStep } from '../../../ports/agent/agent-runtime.ts'
import type { Environment } from '../../../ports/system/environment.ts'
import { writtenStep } from './claude-step.ts'
import { jsonLines } from './json-lines.ts'

const spoken = z.looseObject({
  type: z.enum(['user', 'assistant']),
  isSidechain: z.literal(false).optional(),
  cwd: z.string().optional().catch(undefined),
})

/** Any other id would be a path. */
const ID = /^[\w-]+$/

/**
 * Whether a session is kept, has been spoken in, and began in this directory: the command resumes no session of another
 * one. It is looked for where the command keeps it in that environment:
 * the SDK's own functions know the environment of our process only. All projects are looked through, because a project
 * is named after a directory by rules that have changed.
 */
export const hasSession = async (id: string, environment: Environment, directory?: string): Promise<boolean> => {
  for await (const record of recordsOf(id, environment)) {
    const { data } = spoken.safeParse(record)
    if (data !== undefined) return directory === undefined || data.cwd === undefined || isSame(data.cwd, directory)
  }
  return false
}

const isSame = async (one: string, other: string): Promise<boolean> => {
  const [a, b] = await Promise.all([one, other].map((path) => realpath(path).catch(() => resolve(path))))
  return a === b
}

/** The command's own transcript of a session, in order. Empty when it keeps none. */
export async function* transcriptOf(id: string, environment: Environment): AsyncGenerator<TranscriptStep, void> {
  for await (const record of recordsOf(id, environment)) yield writtenStep(record)
}

/** The records of a session, wherever it is kept. A line that is cut off says nothing. */
async function* recordsOf(id: string, environment: Environment): AsyncGenerator<object, void> {
  if (!ID.test(id)) return
  const { CLAUDE_CONFIG_DIR: configured, HOME: home = homedir() } = environment
  const projects = join(configured ?? join(home, '.claude'), 'projects')
  for (const project of await readdir(projects).catch(() => [])) {
    try {
      yield* jsonLines(createReadStream(join(projects, project, `${id}.jsonl`), 'utf8'))
    } catch {
      // It is not in this project.
    }
  }
}
