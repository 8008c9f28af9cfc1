import { readdir, rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { isUuid } from '../../domain/kernel/ids.ts'
import { codeOf, readOwnFile, TooLarge } from '../files/own-files.ts'
import { privateFolder, readPrivate } from './private-files.ts'

/**
 * The fate of an event: it is on record, or nobody can take it, or it failed by itself and the others need not wait for it.
 * A store that does not answer is an error.
 */
export type Delivered = 'taken' | 'rejected' | 'failed'

/** Takes the text of a spooled event. */
export type Deliver = (text: string) => Promise<Delivered>

/** Hears of a file that is left where it is, once for each. */
export type OnSkipped = (path: string, problem: string) => void

/** A client names a file by an id in lower case. */
const isSpooled = (name: string): boolean =>
  name.endsWith('.json') && name === name.toLowerCase() && isUuid(name.slice(0, -'.json'.length))
/** A document of a megabyte may grow to this when it is put into JSON. */
const LARGEST_BYTES = 9 * 1024 * 1024

const header = z.looseObject({ event: z.string(), payload: z.looseObject({ session_id: z.string() }) })

/**
 * The events that clients have put aside because they must not be lost, one file each, oldest first by name. What is no file
 * of this user, such as a pipe, a folder or a link, and what cannot be read, is left where it is: the others are taken.
 */
export class Spool {
  readonly #folder: string
  readonly #deliver: Deliver
  readonly #onSkipped: OnSkipped
  /** Whose acknowledgement a file is; files never change. */
  readonly #acks = new Map<string, string | undefined>()
  /** Files that were told of, and stay. */
  readonly #skipped = new Set<string>()
  #draining: Promise<void> | undefined

  constructor(folder: string, deliver: Deliver, onSkipped: OnSkipped = () => {}) {
    this.#folder = join(folder, 'spool')
    this.#deliver = deliver
    this.#onSkipped = onSkipped
  }

  async make(): Promise<void> {
    await privateFolder(this.#folder)
    await privateFolder(join(this.#folder, 'rejected'))
  }

  /** Whether nothing waits that could be taken. */
  async isEmpty(): Promise<boolean> {
    return (await this.#names()).every((name) => this.#skipped.has(name))
  }

  /** Takes what waits, in order. A younger file is still on its way by itself. A store that fails ends it for now. */
  drain({ olderThanMs }: { readonly olderThanMs: number }): Promise<void> {
    this.#draining ??= this.#drain(olderThanMs).finally(() => {
      this.#draining = undefined
    })
    return this.#draining
  }

  /** Takes the acknowledgements of a session, so that it is not told again what it was told. */
  async takeAcks(providerSessionId: string): Promise<void> {
    for (const name of await this.#names()) {
      if (!this.#acks.has(name)) this.#acks.set(name, this.#ackIn(name))
      if (this.#acks.get(name) === providerSessionId) await this.#take(name)
    }
  }

  async #drain(olderThanMs: number): Promise<void> {
    const names = new Set(await this.#names())
    for (const name of [...this.#acks.keys()]) if (!names.has(name)) this.#acks.delete(name)
    for (const name of [...this.#skipped]) if (!names.has(name)) this.#skipped.delete(name)
    for (const name of names) {
      const found = await stat(join(this.#folder, name)).catch(() => undefined)
      // A link that leads nowhere has no age, and is told of like any other.
      if (found === undefined || Date.now() - found.mtimeMs >= olderThanMs) await this.#take(name)
    }
  }

  async #take(name: string): Promise<void> {
    const path = join(this.#folder, name)
    const text = this.#read(name)
    if (text === undefined) return
    const delivered = await this.#deliver(text)
    if (delivered === 'failed') return this.#skip(name, 'it could not be taken, and is tried again')
    if (delivered === 'taken') await rm(path, { force: true })
    else await rename(path, join(this.#folder, 'rejected', name)).catch(() => rm(path, { force: true }))
  }

  #ackIn(name: string): string | undefined {
    try {
      const parsed = header.safeParse(JSON.parse(this.#read(name) ?? ''))
      return parsed.data?.event === 'ack' ? parsed.data.payload.session_id : undefined
    } catch {
      return undefined
    }
  }

  /** Nothing when its client was quicker, or when it is no file of this user. A file that is too large is refused as if it were empty. */
  #read(name: string): string | undefined {
    try {
      return readOwnFile(join(this.#folder, name), LARGEST_BYTES)
    } catch (error) {
      if (error instanceof TooLarge) return ''
      this.#skip(name, codeOf(error))
      return undefined
    }
  }

  #skip(name: string, problem: string): void {
    if (this.#skipped.has(name)) return
    this.#skipped.add(name)
    this.#onSkipped(join(this.#folder, name), problem)
  }

  async #names(): Promise<readonly string[]> {
    try {
      return (await readdir(this.#folder)).filter((name) => isSpooled(name)).sort()
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
      throw error
    }
  }
}

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
