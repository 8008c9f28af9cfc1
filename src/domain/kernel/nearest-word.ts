/** The known word that was probably meant, if one is near enough to be worth suggesting. */
export const nearestWord = (word: string, known: readonly string[]): string | undefined => {
  const plain = comparable(word)
  const [best] = known
    .map((candidate) => ({ candidate, distance: distanceBetween(plain, comparable(candidate)) }))
    .sort((a, b) => a.distance - b.distance)
  return best !== undefined && best.distance <= Math.max(1, best.candidate.length / 3) ? best.candidate : undefined
}

/** `contextThreshold` and `context-threshold` are `context_threshold` to the person who typed them. No key is this long. */
const comparable = (word: string): string =>
  word
    .slice(0, 64)
    .toLowerCase()
    .replaceAll(/[_\-\s]/g, '')

/** How many letters must be put in, taken out or changed to turn one word into the other. */
const distanceBetween = (from: string, to: string): number => {
  let row = Array.from({ length: to.length + 1 }, (_, index) => index)
  for (const [at, letter] of [...from].entries()) {
    const next = [at + 1]
    for (let column = 1; column <= to.length; column += 1) {
      const changed = (row[column - 1] ?? 0) + (to[column - 1] === letter ? 0 : 1)
      next.push(Math.min(changed, (row[column] ?? 0) + 1, (next[column - 1] ?? 0) + 1))
    }
    row = next
  }
  return row[to.length] ?? 0
}
