import { extractiveSummary } from '../../domain/summary/extractive-summary.ts'
import { isStructured } from '../../domain/summary/summary-prompt.ts'
import { oneLine } from '../../domain/summary/summary-statements.ts'
import type { Summarizer, SummaryMaterial, WrittenSummary } from '../../ports/agent/summarizer.ts'

/** How long a model may take, unless said otherwise. */
const USUAL_TIMEOUT_MS = 60_000

/** How long a summarizer may take, and who is told why it failed. */
export interface FallbackOptions {
  readonly timeoutMs?: number
  readonly onFailure?: ((error: unknown) => void) | undefined
}

/**
 * The same summarizer, with the record to fall back on: when it fails, takes too long, or answers with something that is
 * no summary, the record is quoted, and the summary says so. It rejects only when the caller's signal ends it.
 *
 * A summary ends in a person's memory file, which agents read. So it says that the summarizer failed and never why: an
 * error may hold anything, from a server's words to a key. `onFailure` is told the error.
 */
export const withFallback = (
  summarizer: Summarizer,
  { timeoutMs = USUAL_TIMEOUT_MS, onFailure }: FallbackOptions = {},
): Summarizer => ({
  name: summarizer.name,
  summarize: async (material) => {
    const answer = await answerWithin(summarizer, material, { timeoutMs, onFailure })
    if (typeof answer !== 'string') return answer
    material.signal.throwIfAborted()
    return { ...extractiveSummary(material), fallbackReason: oneLine(`${summarizer.name} ${answer}`) }
  },
})

/** An answer that is a summary, or why there is none. */
const answerWithin = async (
  summarizer: Summarizer,
  material: SummaryMaterial,
  { timeoutMs, onFailure }: { readonly timeoutMs: number } & Pick<FallbackOptions, 'onFailure'>,
): Promise<WrittenSummary | string> => {
  const late = new AbortController()
  const timer = setTimeout(() => late.abort(), timeoutMs)
  const signal = AbortSignal.any([material.signal, late.signal])
  try {
    material.signal.throwIfAborted()
    const answer = await Promise.race([summarizer.summarize({ ...material, signal }), endOf(signal)])
    if (answer.text.trim() === '') return 'answered nothing'
    return isStructured(answer.text) ? answer : 'answered without the parts of a summary'
  } catch (error) {
    if (late.signal.aborted) return `did not answer within ${timeoutMs / 1_000} seconds`
    onFailure?.(error)
    return 'failed'
  } finally {
    clearTimeout(timer)
  }
}

/** Rejects when the signal aborts. */
const endOf = (signal: AbortSignal): Promise<never> =>
  new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true })
  })
