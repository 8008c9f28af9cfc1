import { Socket } from 'node:net'
import type { ClientConfig } from 'pg'
import { type AddressParts, addressParts, decoded, mustBeWhole } from '../../place/address-parts.ts'
import { badAddress, ESCAPES, SHAPE } from '../../place/bad-address.ts'
import { type SessionKind, sessionKind, type Use } from './session-kind.ts'

/** One server. */
export interface Server {
  /** Its host and port, for messages: no role and no password. */
  readonly name: string
  readonly config: ClientConfig
}

/** The servers that an address names, and which of them is wanted. */
export interface ServerList {
  readonly servers: readonly [Server, ...Server[]]
  readonly wanted: SessionKind
}

/** One address with a host or several of them, as libpq has it; or several addresses. */
export type Addresses = string | readonly string[]

/**
 * The servers of an address. The driver knows one host only, and takes any text for an address.
 *
 * @throws StoreFailure `store.bad_address`, without the address: a password may be in it
 */
export const serverList = (addresses: Addresses, use: Use): ServerList => {
  const read = [addresses].flat().map(serversIn)
  const servers = read.flatMap((one) => one.servers)
  const [first, ...others] = servers
  if (first === undefined) throw badAddress(`is an empty list. ${SHAPE}`)
  const kinds = new Set(read.map(({ wanted }) => wanted))
  if (kinds.size > 1) throw badAddress('is a list in which target_session_attrs differs. Write the same in all of them')
  return { servers: [first, ...others], wanted: sessionKind([...kinds][0], { use, count: servers.length }) }
}

interface Read {
  readonly servers: readonly Server[]
  readonly wanted: string | undefined
}

/** Parameters that are ours to obey; the driver knows one host and one port, and none of the others. */
const OURS: readonly string[] = ['host', 'hostaddr', 'port', 'target_session_attrs', 'load_balance_hosts']

const serversIn = (address: string): Read => {
  if (address.startsWith('/')) return alone(address, address)
  const parts = addressParts(address)
  if (parts === undefined) return alone(checked(address), 'the socket in the address')
  const given = (name: string): string | undefined => parts.parameters.findLast(([key]) => key === name)?.[1]
  const isPlain = parts.hosts.length === 1 && !OURS.some((name) => given(name) !== undefined)
  if (isPlain) return alone(checked(address), parts.hosts[0] || 'localhost')
  mustBeWhole(parts)
  const balance = given('load_balance_hosts') ?? 'disable'
  if (balance !== 'disable')
    throw badAddress('asks for load_balance_hosts, and Batonpass tries hosts in their order. Leave it out')
  const wanted = given('target_session_attrs')
  const places = placesOf(parts, { host: given('host'), address: given('hostaddr'), port: given('port') })
  return { servers: places.map((place) => serverAt(place, parts)), wanted: wanted && decoded(wanted) }
}

const alone = (connectionString: string, name: string): Read => ({
  servers: [{ name, config: { connectionString } }],
  wanted: undefined,
})

/** An address that the driver can take as it is. A host may be left out before the path, as in `postgres://user@/database`. */
const checked = (address: string): string => {
  if (!/^(postgres|postgresql|pg|socket):/i.test(address))
    throw badAddress(`does not begin with postgres:// or postgresql://. ${SHAPE}`)
  const isUrl = URL.canParse(address) || URL.canParse(address.replace('@/', '@host/'))
  if (isUrl && !address.includes('#')) return address
  throw badAddress(`cannot be read. ${SHAPE}; ${ESCAPES}`)
}

interface Place {
  readonly host: string
  readonly port: string
  /** Where to connect to, when the host is only the name in the certificate. */
  readonly address: string | undefined
}

/** The places that hosts and parameters name; a parameter counts before what stands in the middle of the address. */
const placesOf = (
  { hosts: inside }: AddressParts,
  given: { readonly [name in 'host' | 'address' | 'port']: string | undefined },
): readonly Place[] => {
  const written = inside.map(hostAndPort)
  const listed = (text: string | undefined) => (text === undefined ? undefined : decoded(text).split(','))
  const addresses = listed(given.address)
  const named = listed(given.host) ?? written.map(({ host }) => host)
  const hosts = addresses !== undefined && named.every((host) => host === '') ? addresses : named
  if (hosts.length > 1 && hosts.includes(''))
    throw badAddress('has a comma with no host before or after it. Take the comma out, or name the host')
  if (addresses !== undefined && addresses.length !== hosts.length)
    throw badAddress(`has ${counted(addresses, 'hostaddr')} for ${counted(hosts, 'host')}. Give one for each host`)
  const ports = listed(given.port) ?? written.map(({ port }) => port)
  if (ports.length !== 1 && ports.length !== hosts.length)
    throw badAddress(
      `has ${counted(ports, 'port')} for ${counted(hosts, 'host')}. Give one for all, or one for each host`,
    )
  return hosts.map((host, index) => ({
    host,
    port: checkedPort(ports[ports.length === 1 ? 0 : index] ?? ''),
    address: addresses?.[index] || undefined,
  }))
}

const counted = ({ length }: readonly string[], what: string): string => `${length} ${what}${length === 1 ? '' : 's'}`

const hostAndPort = (written: string): { readonly host: string; readonly port: string } => {
  const [, inBrackets, plain, port] = /^(?:\[([^\]]*)\]|([^:[\]]*))(?::([^:]*))?$/.exec(written) ?? []
  const host = inBrackets ?? plain
  if (host === undefined)
    throw badAddress(`cannot be read: a host is none. ${SHAPE}; IPv6 stands in brackets, as [::1]; ${ESCAPES}`)
  return { host: decoded(host), port: decoded(port ?? '') }
}

/** The port is not shown: in an address that was cut in two it may be the password. */
const checkedPort = (port: string): string => {
  if (port === '' || (/^\d{1,5}$/.test(port) && Number(port) >= 1 && Number(port) <= 65_535)) return port
  throw badAddress(`cannot be read: a port is no number from 1 to 65535. ${SHAPE}; ${ESCAPES}`)
}

/** The address of one server, for the driver: it takes host and port as parameters. */
const serverAt = ({ host, port, address }: Place, { beginning, path, parameters }: AddressParts): Server => {
  const others = parameters
    .filter(([name]) => !OURS.includes(name))
    .map(([name, value]) => `${encodeURIComponent(name)}=${value}`)
  const own = [...(host === '' ? [] : [`host=${encodeURIComponent(host)}`]), ...(port === '' ? [] : [`port=${port}`])]
  const query = [...own, ...others].join('&')
  const connectionString = `${beginning}${path === '' ? '/' : path}${query === '' ? '' : `?${query}`}`
  return {
    name: nameOf(host || 'localhost', port),
    config: { connectionString, ...(address !== undefined && { stream: () => new SocketTo(address) }) },
  }
}

const nameOf = (host: string, port: string): string => {
  const shown = host.includes(':') ? `[${host}]` : host
  return port === '' || host.startsWith('/') ? shown : `${shown}:${port}`
}

/** Connects to an address, whatever the name of the host leads to; TLS still asks for that name. */
class SocketTo extends Socket {
  readonly #address: string

  constructor(address: string) {
    super()
    this.#address = address
  }

  override connect(...given: unknown[]): this {
    const [port] = given
    return typeof port === 'number' ? super.connect(port, this.#address) : super.connect(...(given as [string]))
  }
}
