import { defined } from '../../../domain/kernel/defined.ts'
import type {
  RunningAgent,
  RuntimeEnd,
  RuntimeQuestion,
  RuntimeReply,
  RuntimeStep,
} from '../../../ports/agent/agent-runtime.ts'
import { RuntimeFailure } from '../../../ports/agent/runtime-failure.ts'

/** The reply of an agent to one question. Rejects when there is none, or only half of one. */
export const replyOf = async (
  { steps }: RunningAgent<unknown>,
  { onUsage }: Pick<RuntimeQuestion, 'onUsage'> = {},
): Promise<RuntimeReply> => {
  const texts: string[] = []
  let last: RuntimeStep<unknown> | undefined
  for await (const step of steps) {
    texts.push(...step.texts.filter(({ role }) => role === 'assistant').map(({ text }) => text))
    if (step.totals !== undefined) onUsage?.(step.totals)
    last = step
  }
  const text = texts.join('\n\n').trim()
  if (last?.end?.type === 'idle' && text !== '') return defined({ text, totals: last.totals })
  throw failureOf(last?.end)
}

const failureOf = (end: RuntimeEnd | undefined): RuntimeFailure => {
  if (end?.type === 'overflow') return new RuntimeFailure('runtime.prompt_too_long', end.message)
  const isWordless = end?.type === 'idle' || isToolCall(end)
  return new RuntimeFailure(isWordless ? 'runtime.no_words' : 'runtime.question_failed', reasonOf(end))
}

/** It has one request, and no tool: a reply that calls a tool nevertheless is ended. */
const isToolCall = (end: RuntimeEnd | undefined): boolean => end?.type === 'failed' && end.code === 'max_turns'

const reasonOf = (end: RuntimeEnd | undefined): string => {
  if (isToolCall(end)) return 'The session wanted to use a tool, not to answer.'
  if (end?.type === 'failed') return end.message
  return end?.type === 'interrupted' ? 'The question was ended before it was answered.' : 'The session said nothing.'
}
