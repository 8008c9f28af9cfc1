import { StoreFailure } from '../../ports/store-failure.ts'

/** The shapes of address the driver takes, apart from the path of a socket. */
const SCHEMES = /^(postgres|postgresql|pg|socket):/i

const SHAPE = 'An address looks like postgres://user@host/database'

/**
 * Refuses an option that is there and says nothing. A variable that was forgotten would otherwise choose another store
 * in silence: an empty one.
 *
 * @throws StoreFailure `store.bad_address`
 */
export const mustBeSaid = (options: object, name: string, otherwise: string): void => {
  if (!(name in options)) return
  const said: unknown = options[name as keyof typeof options]
  if (typeof said === 'string' && said.trim() !== '') return
  const what = said === undefined || said === null ? 'not set' : typeof said === 'string' ? 'empty' : 'no text'
  throw new StoreFailure(
    'store.bad_address',
    `The option "${name}" is there, and its value is ${what}. Is the variable it comes from set? ${otherwise}`,
  )
}

/**
 * The address of a server, if it is one. The driver takes any text for an address and then looks for a host "base".
 * Problems are named without the address: a password may be in it.
 *
 * @throws StoreFailure `store.bad_address`
 */
export const checkedAddress = (address: string): string => {
  if (address.startsWith('/')) return address
  if (!SCHEMES.test(address)) throw badAddress(`does not begin with postgres:// or postgresql://. ${SHAPE}`)
  if (!isUrl(address)) {
    throw badAddress(
      `cannot be read. ${SHAPE}; characters such as # / ? @ in a password are written as %23 %2F %3F %40`,
    )
  }
  return address
}

const badAddress = (problem: string): StoreFailure =>
  new StoreFailure('store.bad_address', `The address of the Postgres server ${problem}.`)

/** A host may be left out before the path, as in `postgres://user@/database`; the driver takes that too. */
const isUrl = (address: string): boolean => URL.canParse(address) || URL.canParse(address.replace('@/', '@host/'))
