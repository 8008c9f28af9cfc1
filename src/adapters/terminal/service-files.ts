import { randomBytes } from 'node:crypto'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { z } from 'zod'
import { readOwnFile } from '../files/own-files.ts'
import { makeWhole } from '../files/whole-file.ts'
import { privateFolder, replacePrivateFile } from './private-files.ts'

const running = z.object({
  v: z.literal(2),
  pid: z.int().positive(),
  /** With the start of the machine and of the process: a pid, like a port, is given to others later. */
  bootId: z.string(),
  startTime: z.string().nullable(),
  /** In the folder of the service by the way from there, so that it may be mounted anywhere; else absolute. */
  socket: z.string().nullable(),
  /** Named otherwise than in version 1, whose clients would send it their token unasked. */
  address: z.object({ host: z.string(), port: z.int().positive() }).nullable(),
  startedAt: z.string(),
  program: z.string(),
})

/** The service that runs on a folder, as its file describes it. */
export type RunningService = Readonly<z.infer<typeof running>>

const TOKEN = /^[0-9a-f]{64}$/
const TRIES = 100
const MOST_BYTES = 4_096

/**
 * The master token of a folder: made once, by the process that needs it first, and the same over restarts.
 *
 * @throws Error when the file holds something else, or another user could have written it
 */
export const masterToken = async (folder: string): Promise<string> => {
  const path = join(folder, 'service.token')
  await privateFolder(folder)
  makeWhole(path, `${randomBytes(32).toString('hex')}\n`)
  for (let tries = 0; tries < TRIES; tries += 1) {
    const token = readOwnFile(path, MOST_BYTES)?.trim() ?? ''
    if (TOKEN.test(token)) return token
    // A version before drafts may not have written all of it yet.
    await pause(10)
  }
  throw new Error(`${path} holds no token. Delete it: a new one is made, and running sessions use it from then on.`)
}

/** Says that a service runs. */
export const writeRunning = (folder: string, service: RunningService): Promise<void> =>
  replacePrivateFile(join(folder, 'service.json'), `${JSON.stringify(service)}\n`)

/** The service that said so last, whether or not it still runs. */
export const readRunning = async (folder: string): Promise<RunningService | undefined> => {
  try {
    const parsed = running.safeParse(JSON.parse(readOwnFile(join(folder, 'service.json'), MOST_BYTES) ?? ''))
    return parsed.success ? parsed.data : undefined
  } catch {
    // Nobody says so.
    return undefined
  }
}

/** Says that the service has ended, unless another one runs by now. */
export const removeRunning = async (folder: string, { pid, startedAt }: RunningService): Promise<void> => {
  const found = await readRunning(folder)
  if (found?.pid === pid && found.startedAt === startedAt) await rm(join(folder, 'service.json'), { force: true })
}
