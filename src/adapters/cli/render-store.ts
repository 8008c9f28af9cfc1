import { resolve } from 'node:path'
import { DEFAULT_DATA_DIR, type StoreOptions } from '../../command-parts.ts'
import { onOneLine } from '../../domain/kernel/safe-text.ts'

const MASK = '***'
const SECRET = /pass|secret|token|key/i

/** Which store was chosen, for a person. Secrets are masked. */
export const describeStore = ({ database, databaseFile, dataDir = DEFAULT_DATA_DIR, schema }: StoreOptions): string => {
  if (databaseFile !== undefined)
    return onOneLine(`the Postgres server named in ${resolve(databaseFile)}, schema ${schema ?? 'batonpass'}`)
  if (database === undefined) {
    return onOneLine(`embedded, in ${resolve(dataDir)}${schema === undefined ? '' : `, schema ${schema}`}`)
  }
  return onOneLine(`${maskedAddress(database)}, schema ${schema ?? 'batonpass'}`)
}

/** An address that cannot be taken apart is not shown at all: nobody can tell where its password is. */
const maskedAddress = (address: string): string => {
  if (address.startsWith('/')) return address
  if (!URL.canParse(address)) return 'a Postgres server'
  const url = new URL(address)
  if (url.password !== '') url.password = MASK
  for (const name of url.searchParams.keys()) if (SECRET.test(name)) url.searchParams.set(name, MASK)
  return url.href
}
