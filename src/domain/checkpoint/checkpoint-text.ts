/** The checkpoint in a reply. */
export interface CheckpointReply {
  /** A part of the reply, unchanged; empty when there is nothing but white space. */
  readonly text: string
  /** Nothing was written: continue without a checkpoint. */
  readonly isMissing: boolean
  /** Whether it stood in the tags that were asked for. Without them the reply may be no checkpoint at all. */
  readonly isTagged: boolean
}

/**
 * Takes the checkpoint out of an agent's reply. It never fails: a reply without tags is a checkpoint as a whole.
 *
 * @example
 * ```ts
 * const reply = 'Here it is.\n<checkpoint>## Goal\nGreen tests</checkpoint>\nGood luck!'
 * console.log(checkpointIn(reply)) // => { text: '## Goal\nGreen tests', isMissing: false, isTagged: true }
 * console.log(checkpointIn('<checkpoint> </checkpoint>')) // => { text: '', isMissing: true, isTagged: true }
 * ```
 */
export const checkpointIn = (reply: string): CheckpointReply => {
  const unwrapped = withoutOuterFence(reply)
  const tagged = taggedIn(unwrapped)
  const text = tagged ?? unwrapped
  const isMissing = text.trim() === ''
  return { text: isMissing ? '' : text, isMissing, isTagged: tagged !== undefined }
}

const OPENING = '<checkpoint>'
const CLOSING = '</checkpoint>'

/** The content of the first outermost block, if a block is opened at all. */
const taggedIn = (text: string): string | undefined => {
  const opened = text.indexOf(OPENING)
  if (opened === -1) return undefined
  const start = opened + OPENING.length
  return text.slice(start, endOfBlock(text, start))
}

/** Where the block that begins at `start` ends. */
const endOfBlock = (text: string, start: number): number => {
  let depth = 1
  for (const { 0: tag, index } of text.slice(start).matchAll(/<\/?checkpoint>/g)) {
    depth += tag === OPENING ? 1 : -1
    if (depth === 0) return start + index
  }
  // An agent that mentions the tag opens more than it closes: then the last closing tag is the one it meant.
  const last = text.lastIndexOf(CLOSING)
  return last < start ? text.length : last
}

/** Only a fence that says nothing, or that this is a document, is a wrapping; one that says `ts` belongs to the text. */
const OUTER_FENCE = /^\s*(`{3,})[ \t]*(?:(?:xml|markdown|md)[ \t]*)?\r?(?:\n|$)/i

/** The text inside the fence around it, if there is one, closed or not. */
const withoutOuterFence = (text: string): string => {
  const opening = OUTER_FENCE.exec(text)
  if (opening === null) return text
  const { 0: line, 1: ticks = '' } = opening
  const body = text.slice(line.length)
  const fences = body.split('\n').filter((inner) => inner.trimStart().startsWith(ticks)).length
  // Fences inside come in pairs. An even number of them means that nothing is left to close the outer one.
  const isClosed = fences % 2 === 1
  if (!isClosed) return body
  return withoutLastFence(body, ticks) ?? text
}

/** The text before its last line, if that line closes a fence; otherwise the fence closed earlier, and wraps nothing. */
const withoutLastFence = (body: string, ticks: string): string | undefined => {
  const trimmed = body.trimEnd()
  const lineStart = trimmed.lastIndexOf('\n') + 1
  const last = trimmed.slice(lineStart).trimStart()
  const closes = last.startsWith(ticks) && last.replaceAll('`', '') === ''
  return closes ? body.slice(0, lineStart).replace(/\r?\n$/, '') : undefined
}
