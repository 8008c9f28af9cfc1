import { accessSync, constants } from 'node:fs'
import { codeOf, NotOwn, ownStoreFolder } from '../adapters/files/own-files.ts'
import { workingFolder } from '../adapters/place/home-folder.ts'
import { serverName } from '../adapters/place/server-name.ts'
import { remarksOn } from '../adapters/place/store-remarks.ts'
import { type ChosenStore, chooseStore, NAME_ONE, type StorePlace } from '../adapters/place/store-rule.ts'
import { onOneLine } from '../domain/kernel/safe-text.ts'
import { StoreFailure } from '../ports/store/store-failure.ts'

/** How a program without a store of its own is told about the usual one. */
interface Telling {
  /** Is given the name of the store; the warnings of this process unless given. */
  readonly tell?: (message: string) => void
  /** Whether a store that is missing is not made. */
  readonly mustExist?: boolean
}

/**
 * The store of a program that names none: the one that every command in the same folder uses. It is named once, because
 * nobody did.
 *
 * @throws StoreFailure `store.bad_address` where the variables contradict each other, and where the home folder is missing or
 * cannot be written
 */
export const usualStore = ({ tell = warnOnce, mustExist = false }: Telling): StorePlace => {
  const around = { environment: process.env, workingFolder: workingFolder() }
  const chosen = chooseStore(around)
  if (chosen.by === 'home' && !mustExist) mustBeWritable(chosen.place)
  const remarks = remarksOn(chosen, around).map((line) => line.trim())
  tell(onOneLine([`Batonpass uses ${nameOf(chosen)}.`, ...remarks].join(' ')))
  return chosen.place
}

const nameOf = ({ place, why }: ChosenStore): string => {
  if ('dataDir' in place) return `the embedded store in ${place.dataDir} (${why})`
  if ('databaseFile' in place) return `the Postgres server named in ${place.databaseFile} (${why})`
  const { host, port, database } = serverName(place.database)
  return `the database ${database} on ${host}${port === '' ? '' : `:${port}`} (${why})`
}

const mustBeWritable = (place: StorePlace): void => {
  if (!('dataDir' in place)) return
  try {
    ownStoreFolder(place.dataDir)
    accessSync(place.dataDir, constants.W_OK)
  } catch (cause) {
    const why = cause instanceof NotOwn ? cause.message : codeOf(cause)
    const problem = `Your own store in ${place.dataDir} cannot be written (${why}).`
    throw new StoreFailure('store.bad_address', `${problem} ${NAME_ONE}`, { cause })
  }
}

const told = new Set<string>()

/** A program may open its store again and again. */
const warnOnce = (message: string): void => {
  if (told.has(message)) return
  told.add(message)
  process.emitWarning(message, 'BatonpassStore')
}
