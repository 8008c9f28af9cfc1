import { describeThrown } from '../../../domain/kernel/describe-thrown.ts'
import { StoreFailure } from '../../../ports/store/store-failure.ts'

/** SQLSTATEs by name; texts of messages are for people and never compared. */
const STATE = {
  uniqueViolation: '23505',
  serializationFailure: '40001',
  deadlockDetected: '40P01',
  lockNotAvailable: '55P03',
  queryCanceled: '57014',
  diskFull: '53100',
  noRight: '42501',
  /** Our own: something a decision was based on has moved on. */
  moved: 'BP001',
  /** Our own, said by the holder of an embedded store: its folder leads to another database. */
  replaced: 'BP004',
} as const

const INTEGRITY = new Set(['23503', '23514', '23502', '22P02', 'BP002', 'BP003'])
const NOT_MIGRATED = new Set(['42P01', '3F000', '42883', '42703'])
/**
 * Connection exceptions, lack of resources, an operator's hand, a server that became a standby, a session that was
 * ended for taking too long: the next try may find another server.
 */
const UNREACHABLE = /^(08|53(?!100)|57P|25006|25P03|25P04)/
const BROKEN_SOCKET = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ECONNABORTED',
  'ERR_SOCKET_CLOSED',
  'ERR_STREAM_DESTROYED',
  'ERR_STREAM_WRITE_AFTER_END',
  'EPIPE',
  'ETIMEDOUT',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
])

interface DatabaseProblem {
  /** A SQLSTATE, or the name of a system error. */
  readonly code: string | undefined
  readonly constraint: string | undefined
}

const problemOf = (error: unknown): DatabaseProblem => {
  const found = (typeof error === 'object' && error !== null ? error : {}) as Record<string, unknown>
  const { code, constraint, syscall } = found
  // The file of a socket that is not there is a server that is not there.
  const isNoSocket = code === 'ENOENT' && syscall === 'connect'
  return {
    code: isNoSocket ? 'ECONNREFUSED' : typeof code === 'string' ? code : undefined,
    constraint: typeof constraint === 'string' ? constraint : undefined,
  }
}

/** Whether the same command was kept before, or by somebody else in the same moment. */
export const isCommandTaken = (error: unknown): boolean => {
  const { code, constraint } = problemOf(error)
  return code === STATE.uniqueViolation && constraint === 'commands_pkey'
}

/** Where a conflict was: the constraint of a place that only one can have, or what has moved on. Nothing if it was none. */
export const conflictAt = (error: unknown): string | undefined => {
  const { code, constraint } = problemOf(error)
  if (code === STATE.uniqueViolation) return constraint ?? 'a place that is taken'
  return code === STATE.moved ? describeThrown(error) : undefined
}

/** Whether two writers met in a way that only one of them survives. */
export const isContention = (error: unknown): boolean => {
  const { code } = problemOf(error)
  return code === STATE.serializationFailure || code === STATE.deadlockDetected || code === STATE.lockNotAvailable
}

/** Whether the same command is worth sending again at once: nothing was kept, or it will be recognised. */
export const isTransient = (error: unknown): boolean => {
  const { code } = problemOf(error)
  return code !== STATE.lockNotAvailable && (isContention(error) || isUnreachable(error))
}

/** Whether a connection should not be used again after this. */
export const isConnectionLost = (error: unknown): boolean => {
  const { code } = problemOf(error)
  return code === undefined || code === STATE.replaced || BROKEN_SOCKET.has(code) || UNREACHABLE.test(code)
}

const isUnreachable = (error: unknown): boolean => {
  const { code } = problemOf(error)
  if (addressProblem(error, code) !== undefined) return false
  if (code !== undefined) return BROKEN_SOCKET.has(code) || UNREACHABLE.test(code)
  // The driver's own errors (a connection that ended) carry no code and are plain Errors.
  return error instanceof Error && error.constructor === Error
}

/** Why a server does not serve, by the class of its answer; most give none. */
const UNAVAILABLE: readonly (readonly [RegExp, string])[] = [
  [/^25006/, 'The server takes no writes: it is a standby, or was set read-only. Use the address of the primary'],
  [/^25P0/, 'The server ended a session that took too long'],
  [/^53/, 'The server lacks connections or memory'],
  [/^57014/, 'The server ended a statement that took too long'],
  [/^57P/, 'The server is shutting down or starting'],
]

const whyUnavailable = (code = ''): string =>
  UNAVAILABLE.find(([states]) => states.test(code))?.[1] ?? 'The database did not answer'

/** Problems with a certificate, and what to do. Trying again changes nothing. */
const CERTIFICATE: readonly (readonly [RegExp, string])[] = [
  [
    /^ERR_TLS_CERT_ALTNAME_INVALID$/,
    'The certificate of the server is for another host. Use the host name that is in the certificate in the address',
  ],
  [/^CERT_(HAS_EXPIRED|NOT_YET_VALID)$/, 'The certificate of the server has expired, or is not valid yet. Renew it'],
  [
    /^(SELF_SIGNED_CERT_IN_CHAIN|DEPTH_ZERO_SELF_SIGNED_CERT|UNABLE_TO_\w+|CERT_\w+|INVALID_CA)$/,
    'The certificate of the server is from nobody who is trusted here. Name the CA that signed it: ' +
      'sslmode=verify-full&sslrootcert=/path/to/ca.pem',
  ],
]

/** Problems that the driver tells in words only, and what to do. */
const IN_WORDS: readonly (readonly [RegExp, string])[] = [
  [
    /^The server does not support SSL connections$/,
    'The server takes no TLS connections. Switch TLS on there, or leave sslmode out of the address if the way to it is safe',
  ],
  [
    /^SASL: .*client password must be a (non-empty )?string$/,
    'The server wants a password, and there is none. Put the address with its password into a file for --database-file, or ' +
      'the password into a password file that only you may read (PGPASSFILE)',
  ],
]

/**
 * Parts of an address that name nothing there. A database, a role or a host that is missing does not come by itself while
 * a command is tried again, and the person who misspelt it should hear of it at once. A name server that does not answer
 * (`EAI_AGAIN`) is another matter: it may answer the next time.
 */
const NOT_THERE: readonly (readonly [RegExp, string])[] = [
  [/^ENOTFOUND$/, 'There is no host of that name. Check the host in the address'],
  [/^3D000$/, 'There is no database of that name on the server. Create it, or check the address'],
  [/^28(000|P01)$/, 'The server does not let this role in. Check the role and the password in the address'],
]

/** A problem of the address, its password or its certificate. Trying again changes nothing. */
const addressProblem = (error: unknown, code = ''): string | undefined => {
  const found = error instanceof Error ? IN_WORDS.find(([words]) => words.test(error.message)) : undefined
  if (found !== undefined) return found[1]
  return [...CERTIFICATE, ...NOT_THERE].find(([codes]) => codes.test(code))?.[1]
}

/** The roles of connections by the errors they met; an error itself names no role. */
const roles = new WeakMap<object, string>()

/** Remembers the role of the connection that met an error. */
export const metBy = (error: unknown, role: string | undefined): void => {
  if (typeof error === 'object' && error !== null && role !== undefined) roles.set(error, role)
}

const noRight = (error: unknown, detail: string): string => {
  const role = typeof error === 'object' && error !== null ? roles.get(error) : undefined
  return (
    `The role ${role === undefined ? 'of this connection' : `"${role}"`} lacks a right: ${detail}. A program needs usage on ` +
    'the schema, select on its tables and execute on its functions, granted anew after each migration; docs/operating.md ' +
    'has the statements, and "baton doctor" names the grants that are missing.'
  )
}

/** Any error of a driver as a failure that says what broke. The cause stays attached. */
export const toFailure = (error: unknown): StoreFailure => {
  if (error instanceof StoreFailure) return error
  const { code, constraint } = problemOf(error)
  const detail = describeThrown(error)
  const address = addressProblem(error, code)
  if (address !== undefined) return new StoreFailure('store.bad_address', `${address}. (${detail})`, { cause: error })
  if (code !== undefined && INTEGRITY.has(code)) {
    const rule = constraint === undefined ? '' : ` (${constraint})`
    return new StoreFailure('store.integrity', `The database refused what would break its record${rule}: ${detail}`, {
      cause: error,
    })
  }
  if (code !== undefined && NOT_MIGRATED.has(code)) {
    return new StoreFailure(
      'store.not_migrated',
      `The database lacks part of the schema. Run "baton migrate up". (${detail})`,
      { cause: error },
    )
  }
  if (code === STATE.noRight) {
    return new StoreFailure('store.failed', noRight(error, detail), { cause: error })
  }
  if (isContention(error)) {
    return new StoreFailure('store.contention', `Too many writers at one spot: ${detail}. Try again.`, { cause: error })
  }
  if (code === STATE.diskFull) {
    const message = `The disk of the database is full: ${detail}. Free some space there, then try again.`
    return new StoreFailure('store.full', message, { cause: error })
  }
  if (code === STATE.replaced) return new StoreFailure('store.missing', detail, { cause: error })
  if (isUnreachable(error) || code === STATE.queryCanceled) {
    return new StoreFailure('store.unavailable', `${whyUnavailable(code)}: ${detail}. Try again.`, { cause: error })
  }
  return new StoreFailure('store.failed', `The database failed: ${detail}`, { cause: error })
}
