import type { BlockMarkers } from './memory-block.ts'

/** The parts of a managed block, unless a configuration names other markers. */
export const MEMORY_BLOCK = {
  heading: '## Recent Thread Snapshot',
  placeholder: 'None recorded yet.',
  markers: { begin: '<current_thread_summary>', end: '</current_thread_summary>' },
} as const satisfies { readonly heading: string; readonly placeholder: string; readonly markers: BlockMarkers }

/** The words that open our own line inside a block. No marker may begin with them. */
export const OWN_COMMENT = '<!-- batonpass '

const MOST_CHARACTERS = 200
/** One opening bracket, at the beginning, and one closing bracket, at the end: two markers can never overlap. */
const TAG = /^<[^<>\p{Cc}\p{Cs}\u2028\u2029]+>$/u

/**
 * The reason why two markers cannot enclose a block; undefined when they can. A marker is one line from `<` to `>`, such as
 * a tag or an HTML comment. So a marker inside of a summary is made harmless by its first character alone.
 */
export const markerProblem = ({ begin, end }: BlockMarkers): string | undefined => {
  for (const [name, marker] of Object.entries({ begin, end })) {
    if (marker === '') return `the ${name} marker is empty`
    if (marker.length > MOST_CHARACTERS) return `the ${name} marker has more than ${MOST_CHARACTERS} characters`
    if (!TAG.test(marker) || marker.slice(1, -1).trim() === '')
      return `the ${name} marker is not one line from < to >, without another < or > in it`
    if (marker.startsWith(OWN_COMMENT.trimEnd())) return `the ${name} marker begins as our own comments do`
  }
  return begin === end ? 'both markers are the same' : undefined
}
