import type * as Sdk from '@anthropic-ai/claude-agent-sdk'
import type { Options, SDKMessage, SDKResultMessage, SDKUserMessage } from '@anthropic-ai/claude-agent-sdk'
import type { ClaudeResultShape } from '../../src/adapters/claude/readers/claude-result.ts'
import type { AgentSdk, SdkOwnOptions, SdkPrompt } from '../../src/adapters/claude/runtime/sdk-module.ts'
import type { Differences, None } from './differences.ts'

/** Compiles only as long as one can stand in the place of the other. */
type Fits<Given extends Wanted, Wanted> = [Given, Wanted]

/** What we take of the SDK must be in it, and what we give to it must be what it takes. */
export type Running = [
  Fits<typeof Sdk, AgentSdk<SDKMessage>>,
  Fits<SdkOwnOptions, Options>,
  Fits<SdkPrompt, SDKUserMessage>,
  None<Exclude<keyof SdkOwnOptions, keyof Options>>,
  None<Exclude<keyof SdkPrompt, keyof SDKUserMessage>>,
  None<Differences<Omit<ClaudeResultShape, 'result' | 'errors'>, SDKResultMessage, 'result'>>,
  None<Differences<Pick<ClaudeResultShape, 'result'>, Extract<SDKResultMessage, { subtype: 'success' }>, 'result'>>,
  None<Differences<Pick<ClaudeResultShape, 'errors'>, Exclude<SDKResultMessage, { subtype: 'success' }>, 'result'>>,
]

/** The words we look for, which their types must still have. */
export type Reasons = [
  None<
    Exclude<
      | 'prompt_too_long'
      | 'blocking_limit'
      | 'rapid_refill_breaker'
      | 'aborted_streaming'
      | 'aborted_tools'
      | 'max_turns',
      NonNullable<SDKResultMessage['terminal_reason']>
    >
  >,
  None<Exclude<'success' | 'error_max_turns' | 'error_max_budget_usd', SDKResultMessage['subtype']>>,
]

/** What would turn red. */
export type Red = [
  // @ts-expect-error an SDK without a way to interrupt
  Fits<{ query: () => Omit<Sdk.Query, 'interrupt'> }, AgentSdk<SDKMessage>>,
  // @ts-expect-error an option of ours that means something else
  Fits<SdkOwnOptions, Omit<Options, 'tools'> & { tools?: 'none' }>,
]
