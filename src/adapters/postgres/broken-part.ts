import { z } from 'zod'

/** Stands for a part of a row that no version of this program could have written. */
export class BrokenPart {
  // A field of its own, so that no other value has this type.
  readonly #broken = true
  static is(part: unknown): part is BrokenPart {
    return typeof part === 'object' && part !== null && #broken in part
  }
}

const BROKEN = new BrokenPart()

export type OrBroken<T> = T | BrokenPart

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
export const readOr = <T, U>(part: OrBroken<T>, other: U): T | U => (BrokenPart.is(part) ? other : part)

/** The names of the parts that cannot be read; nothing when all can. */
export const brokenIn = <Name extends string>(parts: Readonly<Record<Name, unknown>>): readonly Name[] | undefined => {
  const broken = (Object.keys(parts) as Name[]).filter((name) => BrokenPart.is(parts[name]))
  return broken.length === 0 ? undefined : broken
}
