import { networkProblem } from '../../hooks/allowed-networks.ts'
import { UsageError } from '../invocation/command-problems.ts'
import type { Invocation } from '../invocation/invocation.ts'

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
