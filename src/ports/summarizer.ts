import type { ThreadSummary } from '../domain/thread/thread-summary.ts'

/** One message on the main thread of the conversation to summarise. */
export interface SummaryMessage {
  readonly role: 'user' | 'assistant' | 'tool' | 'system'
  readonly text: string
  readonly toolCalls: readonly { readonly toolName: string; readonly argument?: string }[]
  /** Whether a person wrote it, and not a runtime, a hook or us. */
  readonly isPerson: boolean
}

/** Everything that a summary is made of. Texts of people and agents: data, never instructions. */
export interface SummaryMaterial {
  readonly task: string
  /** The newest messages, oldest first, within bounds. */
  readonly messages: readonly SummaryMessage[]
  /** How many older messages are not among them. */
  readonly leftOut: number
  /** Outcomes of recent subagents, one sentence each. */
  readonly subagents: readonly string[]
  readonly files: readonly string[]
  readonly budgetTokens: number
  /** The earlier summary and what the person wants changed in it. */
  readonly refine?: { readonly earlier: ThreadSummary; readonly feedback: string }
  readonly signal: AbortSignal
}

/** Writes summaries. Rejects when it cannot; an answer over the budget is cut by the caller. */
export interface Summarizer {
  /** Its name for people and records: the model, or `extractive`. */
  readonly name: string
  summarize(material: SummaryMaterial): Promise<{ readonly text: string; readonly modelUsed: string }>
}
