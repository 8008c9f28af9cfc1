/** The share of a window that answers may take: it is there to be worked in. */
const SHARE_OF_WINDOW = 0.2

/** Of a window nobody knows the size of: a quarter of 32,000 tokens, the smallest window that agents are run in. */
const TOKENS_OF_UNKNOWN_WINDOW = 8_000

/** About so many characters of recorded work make a token: fewer than of prose, since much of it is code. */
const CHARACTERS_PER_TOKEN = 3

/** However small the window, one short answer is given. */
const LEAST_CHARACTERS = 4_000

/** The most characters that the answers to one session may have together, so that looking back never fills its window. */
export const lookBackAllowance = (windowTokens: number | undefined): number => {
  const tokens = windowTokens === undefined ? TOKENS_OF_UNKNOWN_WINDOW : windowTokens * SHARE_OF_WINDOW
  return Math.max(LEAST_CHARACTERS, Math.floor(tokens * CHARACTERS_PER_TOKEN))
}
