/** A call id that a citation can hold: brackets, commas and white space would end it early. */
const CITABLE = /^[^\][,;\s]+$/

/** How a statement names the tool call it rests on. */
export const citationOf = (callId: string): string => `[call:${callId}]`

/** Whether a tool call can be named in a citation at all. */
export const isCitable = (callId: string): boolean => CITABLE.test(callId)

/** The call ids a text cites, each once. Agents put several into one pair of brackets, so that is read too. */
export const citedIn = (text: string): readonly string[] => {
  const lists = [...text.matchAll(/\[call:([^\][]*)\]/gi)].map(({ 1: list = '' }) => list)
  const ids = lists.flatMap((list) => list.split(/[,;\s]+/)).map((id) => id.replace(/^call:/i, ''))
  return [...new Set(ids.filter((id) => id !== ''))]
}
