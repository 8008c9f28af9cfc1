import { join } from 'node:path'
import { z } from 'zod'
import { agentSessionId, holderToken } from '../../domain/kernel/ids.ts'
import type { KnownPrompt } from '../../domain/turn/known-prompts.ts'
import { type KeptSession, PROVIDER_SESSION, type TerminalFiles } from '../../ports/terminal/terminal-files.ts'
import { privateFileSchema, privateFolder, readPrivate, replacePrivateFile } from './private-files.ts'
import { spooledPrompts } from './spooled-events.ts'

const count = z.int().nonnegative()

const prompt = privateFileSchema<KnownPrompt>()({
  by: z.string(),
  mark: z.string().optional(),
  beginning: count.optional(),
})

const keptSession = privateFileSchema<KeptSession>()({
  v: z.literal(1),
  runtime: z.string(),
  sessionId: z.string().transform(agentSessionId),
  holder: z.string().transform(holderToken).optional(),
  transcriptPath: z.string().optional(),
  turns: count,
  boundaries: count,
  compaction: z.object({ number: count, toldBy: z.array(z.string()) }),
  events: z.array(z.string()),
  costUsd: z.number().optional(),
  restarts: count.optional(),
  notify: z.enum(['self', 'parent']).optional(),
  lastHandoffPath: z.string().optional(),
  cwd: z.string().optional(),
  pending: z.object({ id: z.string(), workspace: z.string() }).optional(),
  hasEnded: z.boolean().optional(),
  isNoted: z.boolean().optional(),
  variables: z.record(z.string(), z.string()).optional(),
  hasSummary: z.boolean().optional(),
  notice: z.string().optional(),
  prompts: z.array(prompt).optional(),
})

/**
 * The files of sessions in a folder: `sessions/<provider session>.json`, which hooks read, and `kept/<provider session>.json`,
 * which only the service reads.
 *
 * @param agents the terminal agents there are: a file that is about another one cannot be used
 */
export const sessionFiles = async (folder: string, agents: readonly string[]): Promise<TerminalFiles> => {
  const followed = keptSession.refine(({ runtime }) => agents.includes(runtime))
  const sessions = join(folder, 'sessions')
  const keeping = join(folder, 'kept')
  const handoffs = join(folder, 'handoffs')
  for (const each of [folder, sessions, keeping, handoffs]) await privateFolder(each)
  const fileIn = (place: string, id: string): string => {
    if (!PROVIDER_SESSION.test(id))
      throw new TypeError('A provider session has a name of letters, digits, dots and hyphens')
    return join(place, `${id}.json`)
  }
  return {
    // Where there is none that can be used, the store has everything that matters.
    readKept: async (id) => (PROVIDER_SESSION.test(id) ? readPrivate(fileIn(keeping, id), followed) : undefined),
    writeKept: (id, session) => replacePrivateFile(fileIn(keeping, id), `${JSON.stringify(session)}\n`),
    writeCard: (id, card) => replacePrivateFile(fileIn(sessions, id), `${JSON.stringify(card)}\n`),
    waitingPrompts: (id) => spooledPrompts(join(folder, 'spool'), id),
    writeDocument: async (id, text) => {
      const path = join(handoffs, `${id}.md`)
      await replacePrivateFile(path, text)
      return path
    },
  }
}
