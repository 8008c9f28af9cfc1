import type { z } from 'zod'
import type { Result } from '../../domain/kernel/result.ts'

/** The answer of a tool: a text for the agent and, for programs, the same facts as data. */
export interface ToolAnswer {
  readonly text: string
  readonly facts?: Readonly<Record<string, unknown>>
}

/** A no that the agent can do something about. */
export interface ToolRefusal {
  readonly code: string
  /** A sentence that says what to do. */
  readonly message: string
}

/** A promise of an answer, or of the reason there is none. */
export type ToolReply = Promise<Result<ToolAnswer, ToolRefusal>>

/** The one who calls, as its client tells of it beside the arguments, which are the agent's own words. */
export interface Caller {
  readonly meta: Readonly<Record<string, unknown>>
}

/** One tool, for whatever speaks MCP. It knows nothing of how its words travel. */
export interface Tool<Input extends z.ZodObject = z.ZodObject> {
  readonly name: string
  readonly title: string
  /** Says when to use it, for a reader who chooses among many. */
  readonly description: string
  readonly input: Input
  /** Whether it only looks. */
  readonly isReadOnly: boolean
  call(input: z.output<Input>, caller: Caller): ToolReply
}
