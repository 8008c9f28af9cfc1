/** A message may hold a picture, but not without end. */
const MOST_CHARACTERS = 32 * 1024 * 1024

/**
 * The JSON objects that a stream of text has, one to a line. A line that is no object, that is cut off or that is far
 * too long says nothing.
 */
export async function* jsonLines(
  chunks: AsyncIterable<string>,
  most: number = MOST_CHARACTERS,
): AsyncGenerator<object, void> {
  let parts: string[] = []
  let length = 0
  for await (const chunk of chunks) {
    const [first = '', ...others] = chunk.split('\n')
    for (const [index, piece] of [first, ...others].entries()) {
      if (index > 0) {
        yield* objectIn(parts.join(''))
        parts = []
        length = 0
      }
      length += piece.length
      // Nothing of such a line is kept, not even its end.
      if (length > most) parts = []
      else parts.push(piece)
    }
  }
  yield* objectIn(parts.join(''))
}

const objectIn = (line: string): readonly object[] => {
  try {
    const value: unknown = JSON.parse(line)
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? [value] : []
  } catch {
    return []
  }
}
