import { type TextLine, TextLines } from '../../../processes/text-lines.ts'

/** A message may hold a picture, but not without end. */
export const MOST_CHARACTERS = 32 * 1024 * 1024

/**
 * The JSON objects that a stream of text has, one to a line. A line that is no object, that is cut off or that is far
 * too long says nothing.
 */
export async function* jsonLines(
  chunks: AsyncIterable<string>,
  most: number = MOST_CHARACTERS,
): AsyncGenerator<object, void> {
  const lines = new TextLines(most)
  for await (const chunk of chunks) for (const line of lines.take(chunk)) yield* objectIn(line)
  for (const line of lines.end()) yield* objectIn(line)
}

/** The object that a line holds, if it is one. */
export const objectIn = (line: TextLine): readonly object[] => {
  if (typeof line !== 'string') return []
  try {
    const value: unknown = JSON.parse(line)
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? [value] : []
  } catch {
    return []
  }
}
