import { homedir } from 'node:os'
import { join } from 'node:path'
import type { Environment } from '../../ports/system/environment.ts'

/** The name of a store's folder, in a home folder and in a project alike. */
export const STORE_NAME = '.batonpass'

/** The home folder of the person, as programs see it. */
export const homeOf = ({ HOME, USERPROFILE }: Environment): string => HOME || USERPROFILE || homedir()

/** The folder that this process works in; nothing where it has been removed. */
export const workingFolder = (): string | undefined => {
  try {
    return process.cwd()
  } catch {
    return undefined
  }
}

/** The person's own store: one for each person, for work in folders that have no store of their own. */
export const homeStore = (environment: Environment): string => join(homeOf(environment), STORE_NAME)
