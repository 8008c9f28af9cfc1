import { StoreFailure } from '../../../ports/store/store-failure.ts'

/**
 * Refuses an option that is there and says nothing. A variable that was forgotten would otherwise choose another store
 * in silence: an empty one.
 *
 * @throws StoreFailure `store.bad_address`
 */
export const mustBeSaid = (options: object, name: string, otherwise: string): void => {
  if (!(name in options)) return
  const what = unsaid(options[name as keyof typeof options])
  if (what !== undefined) throw saysNothing(`The option "${name}" is there, and its value is ${what}`, otherwise)
}

/** The same for addresses of servers, which may be a list. @throws StoreFailure `store.bad_address` */
export const mustBeAddressed = (options: object, name: string, otherwise: string): void => {
  const value: unknown = name in options ? options[name as keyof typeof options] : undefined
  if (!Array.isArray(value)) {
    mustBeSaid(options, name, otherwise)
    return
  }
  if (value.length === 0) throw saysNothing(`The option "${name}" is an empty list`, otherwise)
  const [what] = value.flatMap((one: unknown) => unsaid(one) ?? [])
  if (what !== undefined)
    throw saysNothing(`The option "${name}" is a list, and an address in it is ${what}`, otherwise)
}

const unsaid = (value: unknown): string | undefined => {
  if (typeof value === 'string') return value.trim() === '' ? 'empty' : undefined
  return value === undefined || value === null ? 'not set' : 'no text'
}

const saysNothing = (what: string, otherwise: string): StoreFailure =>
  new StoreFailure('store.bad_address', `${what}. Is the variable it comes from set? ${otherwise}`)
