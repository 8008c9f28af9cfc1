import { promises as dns } from 'node:dns'
import { BlockList, isIP, type LookupFunction } from 'node:net'
import { isLoopbackHost } from '../../domain/hook-address.ts'

/** One address a name stands for. */
export interface ResolvedAddress {
  readonly address: string
  readonly family: number
}

/** Finds the addresses of a name. */
export type AddressLookup = (hostname: string) => Promise<readonly ResolvedAddress[]>

/** The system's own way to find addresses. */
export const systemLookup: AddressLookup = (hostname) => dns.lookup(hostname, { all: true })

/** A name led to an address that hooks may not reach. */
export class AddressRefused extends Error {
  override readonly name = 'AddressRefused'
}

const listOf = (ranges: readonly string[]): BlockList => {
  const list = new BlockList()
  for (const range of ranges) {
    const [network = '', bits] = range.split('/')
    list.addSubnet(network, Number(bits), isIP(network) === 6 ? 'ipv6' : 'ipv4')
  }
  return list
}

/** IPv4 that leads into a private network, to this machine, or nowhere. */
const NOT_PUBLIC_4 = listOf([
  ...['0.0.0.0/8', '10.0.0.0/8', '100.64.0.0/10', '127.0.0.0/8', '169.254.0.0/16', '172.16.0.0/12'],
  ...['192.0.0.0/24', '192.0.2.0/24', '192.88.99.0/24', '192.168.0.0/16', '198.18.0.0/15', '198.51.100.0/24'],
  ...['203.0.113.0/24', '224.0.0.0/4', '240.0.0.0/4'],
])
/** All public IPv6 is in here; mapped, translated, link-local and unique local addresses are not. */
const PUBLIC_6 = listOf(['2000::/3'])
/** Parts of it that are not: examples, and tunnels that hide an IPv4 address. */
const NOT_PUBLIC_6 = listOf(['2001::/23', '2001:db8::/32', '2002::/16', '3fff::/20'])
const LOOPBACK = listOf(['127.0.0.0/8', '::1/128'])

const isPublic = (address: string): boolean =>
  isIP(address) === 6
    ? PUBLIC_6.check(address, 'ipv6') && !NOT_PUBLIC_6.check(address, 'ipv6')
    : isIP(address) === 4 && !NOT_PUBLIC_4.check(address, 'ipv4')

const isLoopback = (address: string): boolean => LOOPBACK.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4')

/** Whether a host may be reached at an address: a name for this machine only here, any other only in public. */
export const mayReach = (hostname: string, address: string): boolean =>
  isLoopbackHost(hostname) ? isLoopback(address) : isPublic(address)

/** The host of a URL without the brackets of IPv6, when it is an address and not a name. */
export const literalAddress = (hostname: string): string | undefined => {
  const bare = hostname.replace(/^\[|\]$/g, '')
  return isIP(bare) === 0 ? undefined : bare
}

/**
 * A lookup for a connection. What is checked here is what is connected to: the name is not looked up a second time, so
 * it cannot mean something else by then.
 */
export const checkedLookup =
  (hostname: string, lookup: AddressLookup): LookupFunction =>
  (_, options, callback) => {
    resolved(hostname, lookup).then(
      ([first, ...others]) =>
        options.all ? callback(null, [first, ...others]) : callback(null, first.address, first.family),
      (error: Error) => callback(error, '', 0),
    )
  }

const resolved = async (
  hostname: string,
  lookup: AddressLookup,
): Promise<readonly [ResolvedAddress, ...ResolvedAddress[]]> => {
  const [first, ...others] = await lookup(hostname)
  if (first === undefined) throw new Error('The name stands for no address.')
  if (![first, ...others].every(({ address }) => mayReach(hostname, address))) throw new AddressRefused()
  return [first, ...others]
}
