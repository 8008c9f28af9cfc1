import { createContext, Script } from 'node:vm'
import type { Hide } from '../../domain/secrets/hidden-text.ts'

/**
 * Patterns of a person's own. Nobody has proved that they are fast, so they run where they can be stopped: a pattern that
 * takes too long throws, and the text is withheld.
 */
export const ownPatterns = (patterns: readonly string[], timeoutMs: number): ((text: string, hide: Hide) => string) => {
  const context = createContext({ patterns, text: '' })
  new Script('var compiled = patterns.map((pattern) => new RegExp(pattern, "g"))').runInContext(context)
  // Only places leave it, as text: an object of another context is nothing to work with.
  const find = new Script(
    'JSON.stringify(compiled.map((pattern) => [...text.matchAll(pattern)].map((found) => [found.index, found.index + found[0].length])))',
  )
  return (text, hide) => {
    context.text = text
    try {
      const places = JSON.parse(String(find.runInContext(context, { timeout: timeoutMs }))) as readonly Places[]
      return hiddenAt(text, places.flat(), hide)
    } catch (error) {
      const isSlow = (error as NodeJS.ErrnoException).code === 'ERR_SCRIPT_EXECUTION_TIMEOUT'
      throw new Error(isSlow ? `a pattern took longer than ${timeoutMs} ms` : 'a pattern failed')
    } finally {
      context.text = ''
    }
  }
}

type Places = readonly (readonly [from: number, to: number])[]

/** Places that overlap are hidden as one. */
const hiddenAt = (text: string, places: Places, hide: Hide): string => {
  const parts: string[] = []
  let at = 0
  for (const [from, to] of places.toSorted(([a], [b]) => a - b)) {
    if (to <= at || to === from) continue
    if (from >= at) parts.push(text.slice(at, from), hide('pattern'))
    at = to
  }
  return `${parts.join('')}${text.slice(at)}`
}
