import { StoreFailure } from '../../ports/store/store-failure.ts'

/** The shape of an address, for people. */
export const SHAPE = 'An address looks like postgres://user@host/database'

/** The advice for a password that takes an address apart. */
export const ESCAPES = 'characters such as # / ? @ in a password are written as %23 %2F %3F %40'

/** A problem with an address, told without the address: a password may be in it. */
export const badAddress = (problem: string): StoreFailure =>
  new StoreFailure('store.bad_address', `The address of the Postgres server ${problem}.`)
