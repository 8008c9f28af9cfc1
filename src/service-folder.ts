import { existsSync } from 'node:fs'
import { homedir } from 'node:os'
import { join, resolve } from 'node:path'

type Environment = Readonly<Record<string, string | undefined>>

/** A folder, and the reason why it is this one. */
export interface ChosenFolder {
  readonly folder: string
  readonly why: string
}

/** The variable that names the folder of the service, the hooks and their store. */
const FOLDER_VARIABLE = 'BATONPASS_DATA_DIR'

/** The name of the folder, in a home folder and in a working folder alike. */
const NAME = '.batonpass'

/** The folder of the service and the hooks: one for each person, because one for each project would litter every project. */
export const serviceFolder = (environment: Environment, dataDir?: string): ChosenFolder => {
  if (dataDir !== undefined) return { folder: resolve(dataDir), why: 'named by --data-dir' }
  const named = environment[FOLDER_VARIABLE]
  if (named !== undefined && named.trim() !== '') return { folder: resolve(named), why: `named by ${FOLDER_VARIABLE}` }
  return { folder: join(homeOf(environment), NAME), why: 'the usual folder' }
}

/**
 * The folder of the embedded store, where no server is chosen: the one of the service, or the one of the working folder
 * where only that one has a store.
 */
export const storeFolder = (service: ChosenFolder, workingFolder: string): ChosenFolder => {
  const isNamed = service.why.startsWith('named ')
  const here = join(workingFolder, NAME)
  if (isNamed || hasStore(service.folder) || !hasStore(here)) return service
  return { folder: here, why: `the working folder has a store, and ${service.folder} has none` }
}

/** Whether a folder has an embedded store in it. */
export const hasStore = (folder: string): boolean => existsSync(join(folder, 'data'))

/** The home folder of the person, as programs see it. */
export const homeOf = ({ HOME, USERPROFILE }: Environment): string => HOME || USERPROFILE || homedir()
