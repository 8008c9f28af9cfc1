import { promises as dns } from 'node:dns'
import { isIP, type LookupFunction } from 'node:net'
import { isLoopbackHost } from '../../domain/hooks/hook-address.ts'
import { type AllowedNetworks, isNeverAllowed, rangesOf } from './allowed-networks.ts'

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

/** IPv4 that leads into a private network, to this machine, or nowhere. */
const NOT_PUBLIC_4 = rangesOf([
  ...['0.0.0.0/8', '10.0.0.0/8', '100.64.0.0/10', '127.0.0.0/8', '169.254.0.0/16', '172.16.0.0/12'],
  ...['192.0.0.0/24', '192.0.2.0/24', '192.88.99.0/24', '192.168.0.0/16', '198.18.0.0/15', '198.51.100.0/24'],
  ...['203.0.113.0/24', '224.0.0.0/4', '240.0.0.0/4'],
])
/** All public IPv6 is in here; mapped, translated, link-local and unique local addresses are not. */
const PUBLIC_6 = rangesOf(['2000::/3'])
/** Parts of it that are not: examples, and tunnels that hide an IPv4 address. */
const NOT_PUBLIC_6 = rangesOf(['2001::/23', '2001:db8::/32', '2002::/16', '3fff::/20'])
const LOOPBACK = rangesOf(['127.0.0.0/8', '::1/128'])

const isPublic = (address: string): boolean =>
  !isNeverAllowed(address) &&
  (isIP(address) === 6
    ? PUBLIC_6.has(address) && !NOT_PUBLIC_6.has(address)
    : isIP(address) === 4 && !NOT_PUBLIC_4.has(address))

/** Whether a host may be reached at an address: a name for this machine only here, any other in public or as allowed. */
export const mayReach = (hostname: string, address: string, allowed: AllowedNetworks): boolean =>
  isLoopbackHost(hostname) ? LOOPBACK.has(address) : isPublic(address) || allowed.has(address)

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
  (hostname: string, lookup: AddressLookup, allowed: AllowedNetworks): LookupFunction =>
  (_, options, callback) => {
    resolved(hostname, lookup, allowed).then(
      ([first, ...others]) =>
        options.all ? callback(null, [first, ...others]) : callback(null, first.address, first.family),
      (error: Error) => callback(error, '', 0),
    )
  }

const resolved = async (
  hostname: string,
  lookup: AddressLookup,
  allowed: AllowedNetworks,
): Promise<readonly [ResolvedAddress, ...ResolvedAddress[]]> => {
  const [first, ...others] = await lookup(hostname)
  if (first === undefined) throw new Error('The name stands for no address.')
  if (![first, ...others].every(({ address }) => mayReach(hostname, address, allowed))) throw new AddressRefused()
  return [first, ...others]
}
