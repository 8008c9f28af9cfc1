import type { Conversation } from '../../domain/conversation/conversation.ts'
import { defined } from '../../domain/kernel/defined.ts'
import { describeThrown } from '../../domain/kernel/describe-thrown.ts'
import { err, ok, type Result } from '../../domain/kernel/result.ts'
import type { Refusal } from '../../domain/refusal.ts'
import type { AgentSession } from '../../domain/session/agent-session.ts'
import { editedSummary, summaryFrom } from '../../domain/summary/summary-budget.ts'
import type { ThreadSummary } from '../../domain/summary/thread-summary.ts'
import { summaryMaterial } from './summary-material.ts'
import type { ThreadDeps } from './thread-deps.ts'
import type { PreviewRequest } from './thread-requests.ts'
import { withFallback } from './with-fallback.ts'

/** A wish for a summary. */
interface SummaryAsked extends Pick<PreviewRequest, 'summarizer' | 'signal' | 'summary'> {
  readonly budgetTokens: number
  readonly refine?: { readonly earlier: ThreadSummary; readonly feedback: string }
}

/** Summarises a conversation, by the summarizer of the request or else that of the settings. A failure is a refusal: a person may continue without. */
export const summarize = async (
  { store, redact, settings, logger, summarizer: usual }: ThreadDeps,
  conversation: Conversation,
  request: SummaryAsked,
): Promise<Result<ThreadSummary, Refusal>> => {
  if (request.summary !== undefined) return ok(editedSummary(redact(request.summary)))
  const { budgetTokens, refine, signal = new AbortController().signal } = request
  const writer = request.summarizer ?? settings.summarizer ?? usual
  const { id: conversationId } = conversation
  const causeOf = (error: unknown): string => redact(describeThrown(error))
  const onFailure = (error: unknown): void =>
    logger.warn(
      { conversationId, summarizer: writer.name, cause: causeOf(error) },
      'a summarizer failed, and the record is quoted instead',
    )
  const summarizer = settings.fallback === false ? writer : withFallback(writer, { onFailure })
  try {
    const source = await summaryMaterial(store, conversation, budgetTokens)
    const written = await summarizer.summarize({ ...source, ...defined({ refine }), signal })
    const { text, modelUsed, fallbackReason } = written
    const reason = fallbackReason === undefined ? {} : { fallbackReason: redact(fallbackReason) }
    return ok(summaryFrom({ text: redact(text), modelUsed, ...reason }, budgetTokens))
  } catch (error) {
    if (signal.aborted) throw error
    const cause = causeOf(error)
    logger.warn({ conversationId, summarizer: summarizer.name, cause }, 'no summary was made')
    return err({ code: 'thread.not_summarized', conversationId, cause })
  }
}

const NOTHING_SAID = 'nobody has said anything in it yet'

/** As many sessions are looked at for one that has spoken. */
const MOST_SESSIONS = 50

/** The newest session of a conversation that has said something: its last turn is what led to the thread. */
export const spokenSession = async (
  { store: { sessions } }: Pick<ThreadDeps, 'store'>,
  { id }: Conversation,
): Promise<Result<AgentSession, Refusal>> => {
  const latest = await sessions.findLatest(id)
  if (latest === undefined) return err({ code: 'thread.not_summarized', conversationId: id, cause: NOTHING_SAID })
  if (latest.progress.turns > 0) return ok(latest)
  const newest = { conversationId: id, order: 'newest_first' } as const
  const spoken = (await sessions.list(newest, { limit: MOST_SESSIONS })).items.find(
    ({ progress }) => progress.turns > 0,
  )
  return spoken === undefined ? err({ code: 'session.no_turns', sessionId: latest.id }) : ok(spoken)
}
