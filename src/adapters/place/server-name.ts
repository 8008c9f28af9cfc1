import { defined } from '../../domain/kernel/defined.ts'
import { addressParts, decoded } from './address-parts.ts'
import { badAddress, ESCAPES, SHAPE } from './bad-address.ts'

/** The place of a store on a server. It never has a password in it, nor a parameter that may hold one. */
export interface ServerName {
  /** The host, the folder of a socket, or several hosts with commas between them. */
  readonly host: string
  /** The port, or one for each host with commas between them. */
  readonly port: string
  readonly database: string
  readonly schema: string
  readonly user?: string
}

const USUAL_PORT = '5432'
const USUAL_SCHEMA = 'batonpass'
const HOST = /^(?:\[([^\]@]*)\]|([^:[\]@]*))(?::(\d{0,5}))?$/

/**
 * Names the place that an address leads to. Of several addresses the hosts count together, and the rest of the first.
 *
 * @throws StoreFailure `store.bad_address` where it cannot be told what of it is a password
 */
export const serverName = (addresses: string | readonly string[], schema: string = USUAL_SCHEMA): ServerName => {
  const [first, ...others] = [addresses].flat().map(placeIn)
  if (first === undefined) throw badAddress(`is an empty list. ${SHAPE}`)
  const all = [first, ...others]
  const joined = (part: 'host' | 'port'): string => all.map((place) => place[part]).join(',')
  return { ...first, host: joined('host'), port: joined('port'), schema }
}

type Place = Omit<ServerName, 'schema'>

const placeIn = (address: string): Place => {
  if (address.includes('#')) throw unread()
  if (address.startsWith('/')) return socketIn(address)
  const parts = addressParts(address)
  if (parts === undefined) return socketUrlIn(address)
  const given = (name: string): string | undefined => {
    const value = parts.parameters.findLast(([key]) => key === name)?.[1]
    return value === undefined ? undefined : decoded(value)
  }
  if (/@/.test(parts.path)) throw unread()
  const written = parts.hosts.map(hostIn)
  const role = /:\/\/([^:@]*)/.exec(parts.beginning)?.[1] ?? ''
  const user = given('user') ?? (parts.beginning.endsWith('@') && role !== '' ? decoded(role) : undefined)
  return defined({
    host: given('host') ?? given('hostaddr') ?? written.map(({ host }) => host || 'localhost').join(','),
    port: given('port') ?? written.map(({ port }) => port || USUAL_PORT).join(','),
    database: given('database') ?? (decoded(parts.path.slice(1)) || user || ''),
    user,
  })
}

const hostIn = (text: string): { readonly host: string; readonly port: string } => {
  const [whole, bracketed, plain, port = ''] = HOST.exec(text) ?? []
  if (whole === undefined) throw unread()
  return { host: decoded(bracketed ?? plain ?? ''), port }
}

/** The folder of a socket, and a database after a space, as the driver takes it. */
const socketIn = (address: string): Place => {
  const [host = '', database = ''] = address.split(' ')
  return { host, port: '', database }
}

const socketUrlIn = (address: string): Place => {
  // A host may be left out before the path, where the parser wants one.
  const whole = address.replace('@/', '@host/')
  if (!/^socket:/i.test(whole) || !URL.canParse(whole)) throw unread()
  const { pathname, searchParams, username } = new URL(whole)
  const user = username === '' ? undefined : decoded(username)
  return defined({ host: decoded(pathname), port: '', database: searchParams.get('db') ?? user ?? '', user })
}

const unread = () => badAddress(`cannot be read. ${SHAPE}; ${ESCAPES}`)
