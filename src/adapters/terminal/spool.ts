import { readdir, readFile, rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { privateFolder } from './private-files.ts'

/** The fate of an event: it is on record, or nobody can take it. A store that does not answer is an error. */
export type Delivered = 'taken' | 'rejected'

/** Takes the text of a spooled event. */
export type Deliver = (text: string) => Promise<Delivered>

const NAME = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\.json$/
const LARGEST_BYTES = 1024 * 1024

const header = z.looseObject({ event: z.string(), payload: z.looseObject({ session_id: z.string() }) })

/** The events that clients have put aside because they must not be lost, one file each, oldest first by name. */
export class Spool {
  readonly #folder: string
  readonly #deliver: Deliver
  /** Whose acknowledgement a file is; files never change. */
  readonly #acks = new Map<string, string | undefined>()
  #draining: Promise<void> | undefined

  constructor(folder: string, deliver: Deliver) {
    this.#folder = join(folder, 'spool')
    this.#deliver = deliver
  }

  async make(): Promise<void> {
    await privateFolder(join(this.#folder, 'rejected'))
  }

  /** Whether nothing waits. */
  async isEmpty(): Promise<boolean> {
    return (await this.#names()).length === 0
  }

  /** Takes what waits, in order. A younger file is still on its way by itself. One that fails ends it for now. */
  drain({ olderThanMs }: { readonly olderThanMs: number }): Promise<void> {
    this.#draining ??= this.#drain(olderThanMs).finally(() => {
      this.#draining = undefined
    })
    return this.#draining
  }

  /** Takes the acknowledgements of a session, so that it is not told again what it was told. */
  async takeAcks(providerSessionId: string): Promise<void> {
    for (const name of await this.#names()) {
      if (!this.#acks.has(name)) this.#acks.set(name, await this.#ackIn(name))
      if (this.#acks.get(name) === providerSessionId) await this.#take(name)
    }
  }

  async #drain(olderThanMs: number): Promise<void> {
    const names = await this.#names()
    for (const known of this.#acks.keys()) if (!names.includes(known)) this.#acks.delete(known)
    for (const name of names) {
      const found = await stat(join(this.#folder, name)).catch(() => undefined)
      if (found !== undefined && Date.now() - found.mtimeMs >= olderThanMs) await this.#take(name)
    }
  }

  async #take(name: string): Promise<void> {
    const path = join(this.#folder, name)
    const text = await this.#read(path)
    if (text === undefined) return
    if ((await this.#deliver(text)) === 'taken') await rm(path, { force: true })
    else await rename(path, join(this.#folder, 'rejected', name)).catch(() => rm(path, { force: true }))
  }

  async #ackIn(name: string): Promise<string | undefined> {
    try {
      const parsed = header.safeParse(JSON.parse((await this.#read(join(this.#folder, name))) ?? ''))
      return parsed.data?.event === 'ack' ? parsed.data.payload.session_id : undefined
    } catch {
      return undefined
    }
  }

  /** Nothing when its client was quicker. A file that is too large is cut, and refused for it. */
  async #read(path: string): Promise<string | undefined> {
    try {
      const { size } = await stat(path)
      return size > LARGEST_BYTES ? '' : await readFile(path, 'utf8')
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
      throw error
    }
  }

  async #names(): Promise<readonly string[]> {
    try {
      return (await readdir(this.#folder)).filter((name) => NAME.test(name)).sort()
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
      throw error
    }
  }
}
