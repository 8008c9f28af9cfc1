import { readdir, rename, rm } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { z } from 'zod'
import { agentSessionId, commandId, conversationId } from '../../domain/kernel/ids.ts'
import { instant } from '../../domain/kernel/instant.ts'
import type { Candidate, PendingFiles } from '../../ports/terminal/pending-files.ts'
import { PROVIDER_SESSION } from '../../ports/terminal/terminal-files.ts'
import type { PendingDocument } from '../../ports/terminal/wire.ts'
import { pendingFile, workspaceOf } from '../place/workspace.ts'
import { privateFileSchema, privateFolder, readPrivate, replacePrivateFile } from './private-files.ts'

const time = z.iso.datetime().transform((text) => instant(text))
const provider = z.string().regex(PROVIDER_SESSION)

const pendingOfAny = privateFileSchema<PendingDocument>()({
  v: z.literal(1),
  id: z.guid(),
  workspace: z.string(),
  runtime: z.string(),
  providerSessionId: provider,
  sessionId: z.string().transform(agentSessionId),
  conversationId: z.string().transform(conversationId),
  agentName: z.string(),
  document: z.string(),
  reason: z.string().optional(),
  text: z.string(),
  path: z.string(),
  writtenAt: time,
  turns: z.int().nonnegative(),
  expiresAt: time,
})

const candidateOfAny = privateFileSchema<Candidate>()({
  v: z.literal(1),
  runtime: z.string(),
  providerSessionId: provider,
  pendingId: z.guid(),
  branchOf: z.string().transform(conversationId).optional(),
  isFork: z.boolean().optional(),
  thread: z.string().transform(conversationId).optional(),
  workspace: z.string(),
  cwd: z.string().optional(),
  model: z.string().optional(),
  transcriptPath: z.string().optional(),
  prompts: z.array(z.object({ commandId: z.string().transform(commandId), prompt: z.string() })),
  hasEnded: z.boolean(),
})

/**
 * Pending documents in a folder: `pending/`, by their workspace, and beside them those that were taken or are over.
 *
 * @param agents the terminal agents there are: a file that is about another one cannot be used
 */
export const pendingFiles = async (folder: string, agents: readonly string[]): Promise<PendingFiles> => {
  const isKnown = ({ runtime }: { readonly runtime: string }): boolean => agents.includes(runtime)
  const pending = pendingOfAny.refine(isKnown)
  const candidate = candidateOfAny.refine(isKnown)
  const waiting = join(folder, dirname(pendingFile('')))
  const [taken, closed, candidates] = ['taken', 'closed', 'candidates'].map((name) => join(waiting, name)) as [
    string,
    string,
    string,
  ]
  for (const each of [folder, waiting, taken, closed, candidates]) await privateFolder(each)
  const placeOf = (workspace: string): string => join(folder, pendingFile(workspace))
  const listPending = (from: string) => listed(from, pending)
  const moveTo = async (target: string, { workspace, id }: PendingDocument): Promise<boolean> => {
    if ((await read(placeOf(workspace), pending))?.id !== id) return false
    await rename(placeOf(workspace), target)
    return true
  }
  return {
    workspaceOf,
    readPending: async (workspace) => read(placeOf(workspace), pending),
    writePending: (document) => replacePrivateFile(placeOf(document.workspace), `${JSON.stringify(document)}\n`),
    listPending: () => listPending(waiting),
    takePending: (document, by) => moveTo(join(taken, `${document.id}.${by}.json`), document),
    listTaken: async () => {
      const files = await namesIn(taken)
      const all = await Promise.all(
        files.map(async (name) => ({ by: takerIn(name), pending: await read(join(taken, name), pending) })),
      )
      return all.flatMap(({ by, pending: document }) => (document === undefined ? [] : [{ by, pending: document }]))
    },
    forgetTaken: ({ pending: { id }, by }) => rm(join(taken, `${id}.${by}.json`), { force: true }),
    closePending: (document) => moveTo(join(closed, `${document.id}.json`), document),
    listClosed: () => listPending(closed),
    forgetClosed: ({ id }) => rm(join(closed, `${id}.json`), { force: true }),
    listCandidates: () => listed(candidates, candidate),
    writeCandidate: (one) =>
      replacePrivateFile(join(candidates, `${one.providerSessionId}.json`), `${JSON.stringify(one)}\n`),
    forgetCandidate: (id) => rm(join(candidates, `${id}.json`), { force: true }),
  }
}

/** The documents that wait in a folder, for callers that only look: where there is no such folder none is made. */
export const waitingDocuments = (folder: string): Promise<readonly PendingDocument[]> =>
  listed(join(folder, dirname(pendingFile(''))), pendingOfAny) as Promise<readonly PendingDocument[]>

/** `ID.SESSION.json`, and an id has a fixed length. */
const takerIn = (name: string): string => basename(name, '.json').slice('00000000-0000-0000-0000-000000000000.'.length)

const namesIn = async (folder: string): Promise<readonly string[]> => {
  try {
    return (await readdir(folder)).filter((name) => name.endsWith('.json')).sort()
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw error
  }
}

const listed = async <T extends z.ZodType>(folder: string, schema: T): Promise<readonly z.output<T>[]> => {
  const all: z.output<T>[] = []
  for (const name of await namesIn(folder)) {
    const one = await read(join(folder, name), schema)
    if (one !== undefined) all.push(one)
  }
  return all
}

const read = async <T extends z.ZodType>(path: string, schema: T): Promise<z.output<T> | undefined> =>
  readPrivate(path, schema)
