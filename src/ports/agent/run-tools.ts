import type { LookBackAnswer, LookBackQuestion } from '../../domain/history/look-back.ts'
import type { Result } from '../../domain/kernel/result.ts'
import type { ThreadAsked, TransferAsked } from './agent-runtime.ts'

/** A question of an agent about earlier windows, and which part of the answer it wants. */
export interface ToolQuestion {
  readonly question: LookBackQuestion
  /** The `next` of an answer to the same question. */
  readonly cursor?: string
  /** How many characters of recorded text the answer has at most. */
  readonly limit?: number
}

/** The reason why a tool gives no answer: a stable code, and a sentence that says what to do. */
export interface ToolRefused {
  readonly code: string
  readonly message: string
}

/** Answers the questions of one session about its own conversation. */
export type LooksBack = (question: ToolQuestion) => Promise<Result<LookBackAnswer, ToolRefused>>

/** Takes the wish of an agent to hand its work to another one. */
export type HandsOver = (transfer: TransferAsked) => Promise<Result<TransferAsked, ToolRefused>>

/** Takes the wish of an agent that another one does a piece of its work. */
export type Delegates = (thread: ThreadAsked) => Promise<Result<ThreadAsked, ToolRefused>>

/** The tools of one launch. */
export interface ToolsOffered {
  /** Absent for an agent that has no earlier windows. */
  readonly lookBack?: LooksBack
  /** Absent for an agent that has nobody to hand to. */
  readonly handOver?: { readonly to: readonly string[]; readonly ask: HandsOver }
  /** Absent for an agent that has nobody to delegate to. */
  readonly delegate?: { readonly to: readonly string[]; readonly ask: Delegates }
}

/** Where the agent of one launch finds the tools of its run, over MCP. The token is a secret of that launch. */
export interface ToolsEndpoint {
  /** The name of the MCP server, as the agent knows it. */
  readonly server: string
  readonly url: string
  readonly token: string
  /** The tools of the server. They look, or end the agent's own part of the work, so that no person need be asked. */
  readonly tools: readonly string[]
}

/** Tools that are being served. Once disposed of, nothing listens. */
export interface ServedTools extends AsyncDisposable {
  /** Offers the tools to one launch. The token of the launch before it opens nothing from then on. */
  offer(tools: ToolsOffered): ToolsEndpoint
}

/** Serves tools to the agents of a run, on this machine only. */
export interface RunTools {
  open(): Promise<ServedTools>
}
