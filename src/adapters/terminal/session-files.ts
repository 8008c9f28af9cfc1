import { join } from 'node:path'
import { z } from 'zod'
import { agentSessionId, holderToken } from '../../domain/kernel/ids.ts'
import {
  type KeptSession,
  PROVIDER_SESSION,
  TERMINAL_RUNTIMES,
  type TerminalFiles,
} from '../../ports/terminal-files.ts'
import { privateFolder, readPrivate, replaceFile } from './private-files.ts'
import { spooledPrompts } from './spooled-prompts.ts'

const count = z.int().nonnegative()

const kept = z.object({
  v: z.literal(1),
  runtime: z.enum(TERMINAL_RUNTIMES),
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
  notice: z.string().optional(),
  prompts: z.array(z.object({ by: z.string(), mark: z.string().optional(), beginning: count.optional() })).optional(),
})

/** The files of sessions in a folder: `sessions/<provider session>.json` for everyone of this user, and what only the service reads beside it. */
export const sessionFiles = async (folder: string): Promise<TerminalFiles> => {
  const sessions = join(folder, 'sessions')
  const handoffs = join(folder, 'handoffs')
  for (const each of [folder, sessions, handoffs]) await privateFolder(each)
  const named = (id: string, ending: string): string => {
    if (!PROVIDER_SESSION.test(id))
      throw new TypeError('A provider session has a name of letters, digits, dots and hyphens')
    return join(sessions, `${id}${ending}`)
  }
  return {
    readKept: async (id) => (PROVIDER_SESSION.test(id) ? readKept(named(id, '.keep.json')) : undefined),
    writeKept: (id, keeping) => replaceFile(named(id, '.keep.json'), `${JSON.stringify(keeping)}\n`),
    writeCard: (id, card) => replaceFile(named(id, '.json'), `${JSON.stringify(card)}\n`),
    waitingPrompts: (id) => spooledPrompts(join(folder, 'spool'), id),
    writeDocument: async (id, text) => {
      const path = join(handoffs, `${id}.md`)
      await replaceFile(path, text)
      return path
    },
  }
}

/** Where there is none that can be used, the store has everything that matters. */
const readKept = async (path: string): Promise<KeptSession | undefined> =>
  readPrivate(path, kept) as KeptSession | undefined
