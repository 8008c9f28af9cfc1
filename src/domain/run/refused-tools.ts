import { defined } from '../kernel/defined.ts'

/** A tool call that the runtime refused, because nobody had allowed it and nobody could be asked. */
export interface RefusedCall {
  readonly toolName: string
  /** The part of its input that shows its subject, such as a path. */
  readonly argument?: string
  /** Whether it would have changed files. */
  readonly isWrite: boolean
  /** The permission mode of the same runtime that allows such a call; absent where none does. */
  readonly allowedBy?: string
}

/** The refused calls of one tool of one agent. */
export interface RefusedTool extends Pick<RefusedCall, 'toolName' | 'isWrite' | 'allowedBy'> {
  readonly agentName: string
  readonly count: number
}

/** The tools with one more refused call. Calls that another mode would allow are counted separately. */
export const withRefused = (tools: readonly RefusedTool[], refused: RefusedTool): readonly RefusedTool[] => {
  const isSame = (tool: RefusedTool): boolean =>
    tool.agentName === refused.agentName &&
    tool.toolName === refused.toolName &&
    tool.isWrite === refused.isWrite &&
    tool.allowedBy === refused.allowedBy
  return tools.some(isSame)
    ? tools.map((tool) => (isSame(tool) ? { ...tool, count: tool.count + refused.count } : tool))
    : [...tools, refused]
}

/** One refused call of an agent, to be counted. */
export const refusedOnce = (agentName: string, { toolName, isWrite, allowedBy }: RefusedCall): RefusedTool =>
  defined({ agentName, toolName, isWrite, allowedBy, count: 1 })

/** Whether an agent tried to change files, and every attempt was refused: its work cannot be done. */
export const isEveryWriteRefused = (refused: readonly RefusedTool[], writes: number): boolean =>
  writes === 0 && refused.some(({ isWrite }) => isWrite)
