import { BlockList, isIP } from 'node:net'
import { ConfigurationError } from '../../domain/run/run-configuration.ts'

/** Ranges of addresses of both families. */
interface Ranges {
  has(address: string): boolean
}

/** Ranges from texts such as `10.0.0.0/8`. A text that is no address is in no range, and neither is one with a zone. */
export const rangesOf = (networks: readonly string[]): Ranges => {
  const list = new BlockList()
  for (const network of networks) {
    const [base = '', bits] = network.split('/')
    list.addSubnet(base, Number(bits), isIP(base) === 6 ? 'ipv6' : 'ipv4')
  }
  return {
    has: (address) => isPlainIP(address) && list.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4'),
  }
}

const isPlainIP = (address: string): boolean => isIP(address) !== 0 && !address.includes('%')

/**
 * Networks that no list opens: link-local addresses, where clouds give out credentials to any caller, the other
 * addresses at which they do, and ranges that mean this host, everybody, or an IPv4 address in disguise.
 */
const NEVER = rangesOf([
  ...['0.0.0.0/8', '169.254.0.0/16', '224.0.0.0/4', '240.0.0.0/4'],
  ...['100.100.100.200/32', '168.63.129.16/32', '192.0.0.192/32'],
  ...['fe80::/10', 'ff00::/8', 'fd00:ec2::/32', 'fd20:ce::/32'],
  ...['::/96', '::ffff:0:0:0/96', '64:ff9b::/96', '64:ff9b:1::/48', '2001::/32', '2002::/16'],
])

/** Whether an address is closed to hooks whatever anybody allows. */
export const isNeverAllowed = (address: string): boolean => NEVER.has(address) || NEVER.has(unmapped(address))

const NOTHING: Ranges = { has: () => false }

/** Private networks that hooks may reach. Nobody else may say which: a configuration file comes from anywhere. */
export class AllowedNetworks {
  readonly #ranges: Ranges

  /** @throws ConfigurationError with each network that cannot be allowed, and why */
  constructor(networks: readonly string[] = []) {
    const problems = networks.flatMap((network, index) => {
      const wrong = networkProblem(network)
      return wrong === undefined ? [] : [{ path: `allowNetworks[${index}]`, ...wrong }]
    })
    if (problems.length > 0) throw new ConfigurationError(problems)
    this.#ranges = networks.length === 0 ? NOTHING : rangesOf(networks)
  }

  has(address: string): boolean {
    return !isNeverAllowed(address) && this.#ranges.has(unmapped(address))
  }
}

const ADVICE = 'Write a network such as 10.20.0.0/16, or one address such as 10.20.0.5/32.'

/** Why a network cannot be allowed, with what to do about it; undefined when it can. */
export const networkProblem = (network: unknown): { readonly problem: string; readonly advice: string } | undefined => {
  const [, base = '', digits = ''] =
    typeof network === 'string' ? (/^([\d.a-f:]+)\/(\d{1,3})$/i.exec(network) ?? []) : []
  const family = isIP(base)
  const bits = Number(digits)
  if (family === 0 || bits > (family === 6 ? 128 : 32)) return { problem: 'it is not a network', advice: ADVICE }
  if (unmapped(base) !== base) return { problem: 'it is IPv4 in disguise', advice: `Write it as IPv4. ${ADVICE}` }
  if (!isBase(base, bits)) return { problem: 'it has more bits than its length', advice: `${ADVICE}` }
  if (!isNeverAllowed(base) || bits === 0) return undefined
  return {
    problem: 'it is link-local, an address at which clouds give out credentials, or no network of hosts',
    advice: 'No hook may reach it. Leave it out.',
  }
}

/** The IPv4 address that an IPv4-mapped IPv6 address stands for; any other address is itself. */
const unmapped = (address: string): string => {
  const groups = isIP(address) === 6 && !address.includes('%') ? groupsOf(address) : []
  const [high = 0, low = 0] = groups.slice(6)
  const isMapped = groups.length === 8 && groups.slice(0, 5).every((group) => group === 0) && groups[5] === 0xffff
  return isMapped ? [high >> 8, high & 0xff, low >> 8, low & 0xff].join('.') : address
}

/** The eight groups of an IPv6 address, however it is written. */
const groupsOf = (address: string): readonly number[] => {
  const written = new URL(`http://[${address}]`).hostname.slice(1, -1) // without dots, one `::` at most
  const [before = '', after] = written.split('::')
  const [head, tail] = [before, after ?? ''].map((part) => (part === '' ? [] : part.split(':'))) as [string[], string[]]
  const gap = after === undefined ? [] : Array<string>(8 - head.length - tail.length).fill('0')
  return [...head, ...gap, ...tail].map((group) => Number.parseInt(group, 16))
}

/** Whether only zeros stand behind the first bits of an address. */
const isBase = (address: string, bits: number): boolean => {
  const parts = isIP(address) === 6 ? groupsOf(address) : address.split('.').map(Number)
  const width = isIP(address) === 6 ? 16 : 8
  return parts.every((part, at) => {
    const own = Math.min(width, Math.max(0, bits - at * width))
    return part % 2 ** (width - own) === 0
  })
}
