/** What one request said about the window. *Unknown* is a state of its own, never a guess of 0. */
export type UsageReading =
  | { readonly state: 'unknown' }
  | {
      readonly state: 'metered'
      /** Everything the request sent, cached parts included. */
      readonly promptTokens: number
      /** What the answer added; the next request sends it again. */
      readonly outputTokens: number
    }

/** Nothing has been read yet. */
export const UNKNOWN_USAGE: UsageReading = { state: 'unknown' }
