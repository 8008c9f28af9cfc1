import { randomFrom } from '../races/jitter.ts'

/** Chance that comes the same for the same seed. */
export interface Chance {
  /** From 0 to below 1. */
  next(): number
  /** From 0 to below `count`. */
  below(count: number): number
  /** Whether something with this probability happens. */
  happens(probability: number): boolean
  /** One of these; `undefined` when there is none. */
  one<T>(items: readonly T[]): T | undefined
  /** One of these, by weight. */
  weighted<T extends { readonly weight: number }>(items: readonly T[]): T | undefined
}

/** Turns a seed and what it is used for into a number, so that each user has a stream of its own. */
const mixed = (seed: number, use: string): number =>
  [...use].reduce((sum, letter) => Math.imul(sum ^ (letter.codePointAt(0) ?? 0), 0x01000193), seed ^ 0x811c9dc5)

/** A stream of chance for one use. */
export const chanceFor = (seed: number, use: string): Chance => {
  const next = randomFrom(mixed(seed, use))
  const below = (count: number): number => Math.floor(next() * count)
  return {
    next,
    below,
    happens: (probability) => next() < probability,
    one: (items) => items[below(items.length)],
    weighted: (items) => {
      let rest = next() * items.reduce((sum, { weight }) => sum + weight, 0)
      return items.find(({ weight }) => {
        rest -= weight
        return rest < 0
      })
    },
  }
}
