import { statfsSync } from 'node:fs'
import type { PGlite } from '@electric-sql/pglite'
import { StoreFailure } from '../../../ports/store/store-failure.ts'
import { DISK_FULL, hasFailed, simpleQuery } from './door/wire-answers.ts'
import type { Asking, WireEngine } from './pglite-dialect.ts'

/**
 * The engine's log grows by files of 16 MB. When there is no room for the next one, the engine fails in the middle of
 * its own bookkeeping, and whatever it is asked next it never answers. So it is kept away from there, with room for what
 * others write to the disk meanwhile.
 */
const FLOOR = 64 * 2 ** 20

/** A new database, in bytes. */
const NEW_DATABASE = 48 * 2 ** 20

/** A text is written to its row, to the log, to the log again as a whole page, and to indexes. */
const TIMES_WRITTEN = 4

/** How many bytes may still be written to the disk that has a folder. It costs some microseconds to ask. */
const freeIn = (folder: string): number => {
  const { bavail, bsize } = statfsSync(folder)
  return bavail * bsize
}

/** Refuses to open, or to make, a store on a disk that is full. @throws StoreFailure `store.full` */
export const mustHaveSpace = (folder: string, isNew: boolean): void =>
  mustHave(folder, FLOOR + (isNew ? NEW_DATABASE : 0))

const mustHave = (folder: string, needed: number): void => {
  const left = freeIn(folder)
  if (left < needed) throw full(folder, `${megabytes(left)} are left, and it needs ${megabytes(needed)}`)
}

const megabytes = (bytes: number): string => `${Math.ceil(bytes / 2 ** 20)} MB`

const full = (folder: string, why: string, options?: ErrorOptions): StoreFailure =>
  new StoreFailure(
    'store.full',
    `The disk of the embedded store in ${folder} is full: ${why}. Everything acknowledged is kept. Free some space, ` +
      'then try again.',
    options,
  )

/**
 * An engine that is asked nothing while the disk is full. One that met a full disk all the same, because somebody else
 * was quicker, is not asked again: it might never answer. Its files are whole; opening the store anew is safe.
 */
export const guardSpace = (pglite: PGlite, folder: string, close = () => pglite.close()): WireEngine => {
  let broken: unknown
  const mustBeWhole = (): void => {
    if (broken !== undefined) throw full(folder, 'it was met while writing. Close the store', { cause: broken })
  }
  const guarded =
    (query: Asking['query']): Asking['query'] =>
    async (text, parameters) => {
      mustBeWhole()
      mustHave(folder, FLOOR + TIMES_WRITTEN * sizeOf(parameters))
      try {
        return await query(text, parameters)
      } catch (error) {
        if ((error as { readonly code?: unknown }).code !== DISK_FULL) throw error
        broken = error
        throw full(folder, 'it was met while writing. Close the store', { cause: error })
      }
    }
  return {
    get closed() {
      return pglite.closed
    },
    waitReady: pglite.waitReady,
    query: guarded((text, parameters) => pglite.query(text, parameters)),
    transaction: (work) =>
      pglite.transaction((tx) => work({ query: guarded((text, parameters) => tx.query(text, parameters)) })),
    exchange: async (messages) => {
      mustBeWhole()
      mustHave(folder, FLOOR + TIMES_WRITTEN * messages.length)
      const answer = await spoken(pglite, messages)
      if (hasFailed(answer, DISK_FULL))
        broken = new Error('The engine met a full disk in a statement of another process')
      return answer
    },
    rollback: async () => {
      if (broken === undefined) await spoken(pglite, simpleQuery('rollback'))
    },
    // Closing writes as well. What is not closed is put in order by the next opening, as after a kill.
    close: async () => {
      if (broken === undefined && freeIn(folder) >= FLOOR) await close()
    },
  }
}

/** Streamed, because PGlite keeps all that it answers otherwise; and copied, because the memory is the engine's. */
const spoken = async (pglite: PGlite, messages: Uint8Array): Promise<Buffer> => {
  const parts: Buffer[] = []
  await pglite.execProtocolRawStream(messages, { onRawData: (bytes) => parts.push(Buffer.from(bytes)) })
  return Buffer.concat(parts)
}

const sizeOf = (parameters: readonly unknown[] = []): number =>
  parameters.reduce<number>((sum, value) => sum + (typeof value === 'string' ? value.length : 0), 0)
