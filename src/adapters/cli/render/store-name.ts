import { resolve } from 'node:path'
import { onOneLine } from '../../../domain/kernel/safe-text.ts'
import type { StoreOptions } from '../../../main/options.ts'

const MASK = '***'
const SECRET = /pass|secret|token|key/i

/** Which store was chosen, for a person. Secrets are masked. */
export const describeStore = ({ database, databaseFile, dataDir = '', schema }: StoreOptions): string => {
  if (databaseFile !== undefined)
    return onOneLine(`the Postgres server named in ${resolve(databaseFile)}, schema ${schema ?? 'batonpass'}`)
  if (database === undefined) {
    return onOneLine(`embedded, in ${resolve(dataDir)}${schema === undefined ? '' : `, schema ${schema}`}`)
  }
  return onOneLine(`${[database].flat().map(maskedAddress).join(', ')}, schema ${schema ?? 'batonpass'}`)
}

/** An address that cannot be taken apart is not shown at all: nobody can tell where its password is. */
export const maskedAddress = (address: string): string => {
  if (address.startsWith('/')) return address
  const [, beginning = '', hosts = '', end = ''] = SEVERAL_HOSTS.exec(address) ?? []
  if (hosts !== '') return masked(`${beginning}${HOSTS}${end}`)?.replace(HOSTS, hosts) ?? 'several Postgres servers'
  return masked(address) ?? 'a Postgres server'
}

/** Several hosts are no URL. What may be the rest of a password that was cut in two is not taken for them. */
const SEVERAL_HOSTS = /^([a-z]+:\/\/(?:[^/?#]*@)?)([^/?#@]*,[^/?#@]*)((?:[/?][^#@]*)?)$/i

const HOSTS = 'several-hosts.invalid'

const masked = (address: string): string | undefined => {
  if (!URL.canParse(address)) return undefined
  const url = new URL(address)
  if (url.password !== '') url.password = MASK
  for (const name of url.searchParams.keys()) if (SECRET.test(name)) url.searchParams.set(name, MASK)
  return url.href
}
