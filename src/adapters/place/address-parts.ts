import { badAddress, ESCAPES, SHAPE } from './bad-address.ts'

/** An address taken apart as libpq does it. The texts are as they were written, not decoded. */
export interface AddressParts {
  /** Up to the hosts: the scheme, the role and the password. */
  readonly beginning: string
  readonly hosts: readonly string[]
  /** The path, which begins with a slash or is empty. */
  readonly path: string
  readonly parameters: readonly (readonly [name: string, value: string])[]
}

/** The schemes that name a host. A file of a socket is named by another one, and by a path. */
const WITH_HOSTS = /^(postgres|postgresql|pg):\/\//i

/**
 * Takes an address apart, if it is of the kind that names hosts. An `@` in a password counts for nothing as long as another
 * one follows before the path.
 *
 * @throws StoreFailure `store.bad_address`
 */
export const addressParts = (address: string): AddressParts | undefined => {
  const [scheme] = WITH_HOSTS.exec(address) ?? []
  if (scheme === undefined) return undefined
  const rest = address.slice(scheme.length)
  const end = rest.search(/[/?#]|$/)
  const [authority, after] = [rest.slice(0, end), rest.slice(end)]
  const role = authority.lastIndexOf('@') + 1
  const mark = after.indexOf('?')
  return {
    beginning: scheme + authority.slice(0, role),
    hosts: authority.slice(role).split(','),
    path: mark < 0 ? after : after.slice(0, mark),
    parameters: mark < 0 ? [] : parametersOf(after.slice(mark + 1)),
  }
}

const parametersOf = (query: string): AddressParts['parameters'] =>
  query
    .split('&')
    .filter((part) => part !== '')
    .map((part) => {
      const equals = part.indexOf('=')
      return equals < 0 ? [decoded(part), ''] : [decoded(part.slice(0, equals)), part.slice(equals + 1)]
    })

/** A part of an address as it is meant. @throws StoreFailure `store.bad_address` */
export const decoded = (text: string): string => {
  try {
    return decodeURIComponent(text)
  } catch {
    throw badAddress(`has a % that no two hexadecimal digits follow. ${SHAPE}; a % itself is written as %25`)
  }
}

/**
 * Refuses what may be the rest of a password that was cut in two: part of it would be taken for a host, and be shown in
 * messages.
 */
export const mustBeWhole = ({ path, parameters }: AddressParts): void => {
  const rest = [path, ...parameters.flat()].join('&')
  if (/[#@]/.test(rest)) throw badAddress(`cannot be read: a # or @ stands after its hosts. ${SHAPE}; ${ESCAPES}`)
}
