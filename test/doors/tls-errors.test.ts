import { describe, expect, it } from 'vitest'
import { isTransient, toFailure } from '../../src/adapters/postgres/statements/pg-errors.ts'

const coded = (code: string): Error => Object.assign(new Error('the driver says so'), { code })

/** What a driver throws when a secured connection cannot be made, and what is said of it. */
const THROWN: [what: string, error: Error, says: string][] = [
  ['a server without TLS', new Error('The server does not support SSL connections'), 'takes no TLS connections'],
  ['a certificate for another host', coded('ERR_TLS_CERT_ALTNAME_INVALID'), 'is for another host'],
  ['a certificate that has expired', coded('CERT_HAS_EXPIRED'), 'has expired'],
  ['a certificate of an unknown CA', coded('UNABLE_TO_VERIFY_LEAF_SIGNATURE'), 'Name the CA that signed it'],
  ['a certificate that signed itself', coded('DEPTH_ZERO_SELF_SIGNED_CERT'), 'Name the CA that signed it'],
]

describe('a connection that cannot be secured', () => {
  it.each(THROWN)('is said once, and not tried again: %s', (_, error, says) => {
    expect(isTransient(error)).toBe(false)
    const failure = toFailure(error)
    expect(failure).toMatchObject({ code: 'store.bad_address', retryable: false, cause: error })
    expect(failure.message).toContain(says)
  })

  it('is told from one that broke, which is tried again', () => {
    for (const error of [coded('ECONNRESET'), new Error('Connection terminated unexpectedly')]) {
      expect(isTransient(error)).toBe(true)
      expect(toFailure(error)).toMatchObject({ code: 'store.unavailable', retryable: true })
    }
  })
})
