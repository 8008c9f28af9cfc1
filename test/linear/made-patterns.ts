import type { FoundPattern } from './patterns.ts'

const SOURCE = new URL('../../src/', import.meta.url)

/**
 * Notes every pattern that the source makes from now on, until it is asked for them. Patterns of packages do not count. Before
 * the source is loaded, so that none is missed.
 */
export const notingMadePatterns = (): (() => readonly FoundPattern[]) => {
  const made = new Map<string, FoundPattern>()
  const { RegExp: original } = globalThis
  globalThis.RegExp = new Proxy(original, {
    construct: (target, args: [string | RegExp, string?]) => {
      // Made as if nobody looked on: one that this proxy makes would take the slow way through every text.
      const pattern = new target(...args)
      const place = placeOfCaller()
      if (place !== undefined) made.set(`${place}${pattern}`, { place, source: pattern.source, flags: pattern.flags })
      return pattern
    },
  })
  return () => {
    globalThis.RegExp = original
    return [...made.values()]
  }
}

/** The file of the source that called, if it was one. */
const placeOfCaller = (): string | undefined => {
  const [, , , frame = ''] = new Error().stack?.split('\n') ?? []
  const begin = [SOURCE.href, SOURCE.pathname].find((each) => frame.includes(each))
  return begin && frame.slice(frame.indexOf(begin) + begin.length).split(':')[0]
}
