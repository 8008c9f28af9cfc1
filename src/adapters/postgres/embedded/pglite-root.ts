import { closeSync, constants, openSync } from 'node:fs'
import type { PGlite, PGliteOptions } from '@electric-sql/pglite'
import { numberAt } from './pglite-identity.ts'

/** An engine that has the folder of its files by a handle, where the system allows that. */
export interface RootedPglite {
  readonly pglite: PGlite
  /** The folder that has the folder of its files, wherever that is by now; nothing where only its path is known. */
  readonly parent?: string
  /** Closes the engine, which writes, and the handle. */
  close(): Promise<void>
  /**
   * Closes the files of the engine and writes nothing. The handle stays open for ever: if its number led to another
   * folder one day, so would the engine.
   */
  abandon(): Promise<void>
}

/**
 * Opens an engine on a folder. The engine opens its files by their paths, each time anew; on Linux those paths begin with
 * a handle to the folder, so that it never writes into another one that has taken its place.
 */
export const openRooted = async (data: string, options: PGliteOptions = {}): Promise<RootedPglite> => {
  const handle = handleTo(data)
  try {
    const pglite = await (handle === undefined ? created({ ...options, dataDir: data }) : byHandle(handle, options))
    const close = async (): Promise<void> => {
      await pglite.close()
      if (handle !== undefined) closeSync(handle)
    }
    const parent = handle === undefined ? {} : { parent: `${pathOf(handle)}/..` }
    return { pglite, ...parent, close, abandon: async () => pglite.fs?.closeFs() }
  } catch (error) {
    if (handle !== undefined) closeSync(handle)
    throw error
  }
}

/** Loaded when it is needed: a process that another one lets in needs no engine. */
export const created = async (options: PGliteOptions): Promise<PGlite> =>
  (await import('@electric-sql/pglite')).PGlite.create(options)

const pathOf = (handle: number): string => `/proc/self/fd/${handle}`

/** Nothing where the system has no such paths: other systems, and a sandbox without a `/proc` of its own. */
const handleTo = (data: string): number | undefined => {
  if (process.platform !== 'linux') return undefined
  const handle = openSync(data, constants.O_RDONLY | constants.O_DIRECTORY)
  if (numberAt(`${pathOf(handle)}/`) === numberAt(data)) return handle
  closeSync(handle)
  return undefined
}

const byHandle = async (handle: number, options: PGliteOptions): Promise<PGlite> => {
  const { NodeFS } = await import('@electric-sql/pglite/nodefs')
  class HandleFs extends NodeFS {
    constructor(path: string) {
      super(path)
      // Without the slash it is a link, and no folder.
      this.rootDir = `${path}/`
    }
  }
  return created({ ...options, fs: new HandleFs(pathOf(handle)) })
}
