import { isIP } from 'node:net'
import { ConfigurationError } from '../../domain/run/configuration.ts'
import { isBase, type Ranges, rangesOf, unmapped } from './ip-ranges.ts'

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
