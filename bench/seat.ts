import type { MonitorSettings, TurnInput } from '../src/entry/ports.ts'

/** A conversation at work, and everything the benchmark does with it. Each worker sits on seats of its own. */
export interface Seat {
  readonly conversationId: string
  recordTurn(): Promise<void>
  snapshot(): Promise<void>
  initiate(): Promise<void>
  acceptAndComplete(): Promise<void>
  activeSession(): Promise<void>
  lineage(): Promise<void>
}

/** One of the two that are compared. */
export interface Side {
  readonly name: 'ours' | 'floor'
  /** Opens a conversation with a session in it and some turns behind it. */
  open(turns: number, monitor?: MonitorSettings): Promise<Seat>
}

export const ORIGINAL_TASK = 'Find out why the checkout test fails one time in ten, and repair it without a retry.'
export const REASON = 'The window is nearly full, and the next step needs a fresh look at the whole test.'
export const AGENTS = ['claude-code', 'opus'] as const
export const BACKEND = 'claude_agent_sdk'
export const CLAIMANT = 'bench-worker'

const QUESTION = 'Please run the checkout tests again and tell me which of them still fail. '.repeat(3)
const ANSWER = 'I ran the tests and read the files they touch. The order of two writes is not fixed. '.repeat(8)
const TOOLS = ['read_file', 'search', 'edit_file', 'run_tests', 'git_diff'] as const

/** A turn like many: a question, a long answer, five tool calls, a usage reading. */
export const turnInput = (number: number): Required<Pick<TurnInput, 'messages' | 'usage'>> => ({
  messages: [
    { role: 'user', text: QUESTION },
    {
      role: 'assistant',
      text: ANSWER,
      toolCalls: TOOLS.map((toolName, index) => ({ callId: `toolu_${number}_${index}`, toolName })),
    },
  ],
  usage: { state: 'metered', promptTokens: 20_000 + number, outputTokens: 400 },
})
