/** A number with its word: "1 turn", "2 turns". */
export const counted = (count: number, word: string): string => `${count} ${word}${count === 1 ? '' : 's'}`
