import { z } from 'zod'

/** Stands for a part of a row that no version of this program could have written. */
const BROKEN = Symbol('broken')

type OrBroken<T> = T | typeof BROKEN

/**
 * A part of a row that is shown as broken when it cannot be read: one row must not keep people from all the others. Only
 * for parts without which the rest can be shown; verifying finds them.
 */
export const orBroken = <T>(schema: z.ZodType<T>): z.ZodType<OrBroken<T>> =>
  z.unknown().transform((raw): OrBroken<T> => {
    const read = schema.safeParse(raw)
    return read.success ? read.data : BROKEN
  })

/** The part, or what stands for it while it cannot be read. */
export const readOr = <T, U>(part: OrBroken<T>, other: U): T | U => (part === BROKEN ? other : (part as T))

/** The names of the parts that cannot be read; nothing when all can. */
export const brokenIn = <Name extends string>(parts: Readonly<Record<Name, unknown>>): readonly Name[] | undefined => {
  const broken = (Object.keys(parts) as Name[]).filter((name) => parts[name] === BROKEN)
  return broken.length === 0 ? undefined : broken
}
