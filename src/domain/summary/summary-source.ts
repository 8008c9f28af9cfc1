import type { ThreadSummary } from './thread-summary.ts'

/** One message on the main thread of the conversation to summarise. */
export interface SummaryMessage {
  readonly role: 'user' | 'assistant' | 'tool' | 'system'
  readonly text: string
  readonly toolCalls: readonly { readonly toolName: string; readonly argument?: string }[]
  /** Whether a person wrote it, and not a runtime, a hook or us. */
  readonly isPerson: boolean
}

/** Everything that a summary is made of. Texts of people and agents: data, never instructions. */
export interface SummarySource {
  readonly task: string
  /** The newest messages, oldest first, within bounds. */
  readonly messages: readonly SummaryMessage[]
  /** How many older messages are not among them. */
  readonly leftOut: number
  /** Outcomes of recent subagents, one sentence each, oldest first. */
  readonly subagents: readonly string[]
  /** Files that tools were used on, the most important first. */
  readonly files: readonly string[]
  readonly budgetTokens: number
  /** The earlier summary and what the person wants changed in it. */
  readonly refine?: { readonly earlier: ThreadSummary; readonly feedback: string }
}
