import { networkProblem } from '../../doors.ts'
import type { CliCommand, Invocation } from './command.ts'
import { UsageError } from './problems.ts'

/** The flag that opens private networks to webhooks. No file can: it may come from anywhere. */
export const NETWORK_FLAGS = {
  'allow-network': { type: 'string', multiple: true },
} as const satisfies CliCommand['options']

/** What this flag means, for a command's help. */
export const NETWORK_FLAGS_HELP =
  '  --allow-network CIDR  a private network that webhooks may reach, such as 10.20.0.0/16; may be repeated'

/** The networks that are named. @throws UsageError when one of them cannot be allowed */
export const allowedNetworks = ({ values }: Invocation): readonly string[] | undefined => {
  const named = values['allow-network']
  if (!Array.isArray(named)) return undefined
  for (const network of named) {
    const wrong = networkProblem(network)
    if (wrong !== undefined) throw new UsageError(`--allow-network ${network}: ${wrong.problem}. ${wrong.advice}`)
  }
  return named
}
