import { StoreFailure } from '../../../ports/store/store-failure.ts'
import { toFailure } from '../statements/pg-errors.ts'
import type { Server, ServerList } from './server-list.ts'

/** A server answered, and is not of the kind that is wanted. */
export class NoFitError extends Error {
  override readonly name = 'NoFitError'
}

/** Why one server cannot be used. */
export class UnfitError extends Error {
  override readonly name = 'UnfitError'
  readonly server: Server

  constructor(server: Server, cause: unknown) {
    super(cause instanceof NoFitError ? cause.message : reasonOf(toFailure(cause)), { cause })
    this.server = server
  }
}

/** Without the advice to try again, which is given once for all servers. */
const reasonOf = ({ message }: StoreFailure): string => `did not let us in (${message.replace(/\.? Try again\.$/, '')})`

/**
 * Why none of the servers can be used, as one failure that names each. It is worth trying again as soon as that may help
 * with one of them.
 */
export const fitFailure = (problems: readonly unknown[], { servers, wanted }: ServerList): StoreFailure => {
  const unfit = problems.filter((problem) => problem instanceof UnfitError)
  const [only] = servers
  if (servers.length === 1 && unfit[0] !== undefined && !(unfit[0].cause instanceof NoFitError))
    return toFailure(unfit[0].cause)
  const isAddress = unfit.length > 0 && unfit.every((problem) => isBadAddress(problem.cause))
  const isFound = unfit.some(({ cause }) => cause instanceof NoFitError)
  const who = servers.length === 1 ? `The server ${only.name}` : `None of the ${servers.length} servers`
  const reasons =
    servers.length === 1
      ? (unfit[0]?.message ?? '')
      : `${WORKS[wanted]}: ${unfit.map(({ server, message }) => `${server.name} ${message}`).join('; ')}`
  const advice = isAddress ? 'Check each address.' : isFound ? ADVICE[wanted] : 'Start one of them, then try again.'
  return new StoreFailure(isAddress ? 'store.bad_address' : 'store.unavailable', `${who} ${reasons}. ${advice}`, {
    cause: new AggregateError(unfit),
  })
}

const isBadAddress = (cause: unknown): boolean =>
  !(cause instanceof NoFitError) && toFailure(cause).code === 'store.bad_address'

const WORKS: Readonly<Record<ServerList['wanted'], string>> = {
  any: 'can be used',
  'read-write': 'takes writes',
  primary: 'is a primary that can be used',
  standby: 'is a standby that can be used',
  'read-only': 'is read-only and can be used',
  'prefer-standby': 'can be used',
}

const WRITERS =
  'While a failover is under way, try again; else promote a standby, or add the address of the primary to the list.'

const ADVICE: Readonly<Record<ServerList['wanted'], string>> = {
  any: 'Try again.',
  'read-write': WRITERS,
  primary: WRITERS,
  standby: 'Add the address of a standby, or ask for target_session_attrs=prefer-standby.',
  'read-only': 'Add the address of a standby, or ask for target_session_attrs=prefer-standby.',
  'prefer-standby': 'Try again.',
}
