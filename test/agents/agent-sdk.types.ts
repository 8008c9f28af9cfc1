import type {
  ModelUsage,
  SDKAssistantMessage,
  SDKCompactBoundaryMessage,
  SDKConversationResetMessage,
  SDKMessage,
  SDKPartialAssistantMessage,
  SDKResultMessage,
  SDKStatusMessage,
  SDKSystemMessage,
  SDKUserMessage,
  SDKUserMessageReplay,
} from '@anthropic-ai/claude-agent-sdk'
import type { AgentSdkShapes } from '../../src/adapters/claude/readers/agent-sdk-reader.ts'
import type { Differences, None } from './differences.ts'

type Type = AgentSdkShapes['message']['type']
type Read<T extends Type> = Extract<AgentSdkShapes['message'], { type: T }>
type Shape<Name extends keyof AgentSdkShapes> = AgentSdkShapes[Name]

type System = SDKSystemMessage | SDKStatusMessage | SDKCompactBoundaryMessage
type Metadata = SDKCompactBoundaryMessage['compact_metadata']
type Start = Extract<SDKPartialAssistantMessage['event'], { type: 'message_start' }>
type Delta = Extract<SDKPartialAssistantMessage['event'], { type: 'message_delta' }>
type Partial<T extends Shape<'partial'>['type']> = Extract<Shape<'partial'>, { type: T }>
type ToolUse = Extract<SDKAssistantMessage['message']['content'][number], { type: 'tool_use' }>
type Usage = SDKAssistantMessage['message']['usage']
type Iteration = NonNullable<Usage['iterations']>[number]
type Sampling = Extract<Iteration, { type: 'message' | 'fallback_message' }>

/** We take the time where it is given. `stream-json` has it on more messages than the types say. */
type Untimed<Found> = Exclude<Found, `${string}.timestamp is not there`>

/** Answers and prompts say whether they are a subagent's. Of the others we would notice it too, should they ever say so. */
type Unmarked<Found> = Exclude<Untimed<Found>, `${string}.${'agent_id' | 'parent_tool_use_id'} is not there`>

/** Each line compiles only as long as the SDK gives what `agentSdkReader` reads. */
export type Reading = [
  None<Untimed<Differences<Read<'assistant'>, SDKAssistantMessage, 'assistant'>>>,
  None<Untimed<Differences<Read<'user'>, SDKUserMessage | SDKUserMessageReplay, 'user'>>>,
  None<Unmarked<Differences<Read<'system'>, System, 'system'>>>,
  None<Unmarked<Differences<Read<'stream_event'>, SDKPartialAssistantMessage, 'stream_event'>>>,
  None<Unmarked<Differences<Read<'result'>, SDKResultMessage, 'result'>>>,
  None<Unmarked<Differences<Read<'conversation_reset'>, SDKConversationResetMessage, 'conversation_reset'>>>,
  None<Differences<Shape<'usage'>, Usage, 'usage'>>,
  None<Differences<Shape<'iteration'>, Sampling, 'iteration'>>,
  None<Differences<Shape<'toolUse'>, ToolUse, 'tool_use'>>,
  None<Differences<Partial<'message_start'>, Start, 'message_start'>>,
  None<Differences<Partial<'message_delta'>, Delta, 'message_delta'>>,
  None<Differences<Shape<'compactMetadata'>, Metadata, 'compact_metadata'>>,
  None<Differences<Shape<'modelUsage'>, ModelUsage, 'model_usage'>>,
  None<Differences<ModelUsage, SDKResultMessage['modelUsage'][string], 'result.modelUsage'>>,
]

/** The words we look for, which their types must still have. */
export type Words = [
  None<Exclude<Type, SDKMessage['type']>>,
  None<Exclude<'init' | 'status' | 'compact_boundary', Extract<SDKMessage, { type: 'system' }>['subtype']>>,
  None<Exclude<'compacting', SDKStatusMessage['status']>>,
  None<Exclude<Exclude<Shape<'compactMetadata'>['trigger'], 'unknown'>, Metadata['trigger']>>,
  None<Exclude<'message' | 'fallback_message', Iteration['type']>>,
]

type Changed<T, Change> = Omit<T, keyof Change> & Change

/** What would turn red, and with which sentence: types a future SDK could have. */
export type Red = [
  // @ts-expect-error a counter that becomes a text: usage.input_tokens has another type
  None<Differences<Shape<'usage'>, Changed<Usage, { input_tokens: string }>, 'usage'>>,
  // @ts-expect-error a counter that may be left out: usage.input_tokens is not always there
  None<Differences<Shape<'usage'>, Changed<Usage, { input_tokens?: number }>, 'usage'>>,
  // @ts-expect-error a counter we can do without, but would miss: usage.cache_read_input_tokens is not there
  None<Differences<Shape<'usage'>, Omit<Usage, 'cache_read_input_tokens'>, 'usage'>>,
  // @ts-expect-error iterations that are no list any more: usage.iterations is no list
  None<Differences<Shape<'usage'>, Changed<Usage, { iterations: { last: Iteration } }>, 'usage'>>,
  // @ts-expect-error an iteration without its kind: iteration.type is not there
  None<Differences<Shape<'iteration'>, Omit<Sampling, 'type'>, 'iteration'>>,
  // @ts-expect-error a block deep in a message: assistant.message.content[].type has another type
  None<Differences<Read<'assistant'>, { message: { id: string; content: { type: 1 }[] } }, 'assistant'>>,
  // @ts-expect-error a package that was not found: usage is any
  None<Differences<Shape<'usage'>, ReturnType<typeof JSON.parse>, 'usage'>>,
]
