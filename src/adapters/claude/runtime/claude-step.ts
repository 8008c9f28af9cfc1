import { z } from 'zod'
import { defined } from '../../../domain/kernel/defined.ts'
import type { RuntimeStep, TranscriptStep } from '../../../ports/agent/agent-runtime.ts'
import { agentSdkReader } from '../readers/agent-sdk-reader.ts'
import { SYNTHETIC } from '../readers/claude-message.ts'
import { claudeWords } from '../readers/claude-words.ts'
import { transcriptReader } from '../readers/transcript-reader.ts'

const answer = z.looseObject({
  type: z.literal('assistant'),
  parent_tool_use_id: z.string().nullish(),
  agent_id: z.string().nullish(),
  message: z.looseObject({ model: z.string() }),
})

/** Which model answered on the main thread, if the message is such an answer and not one of the runtime's own. */
export const modelIn = (message: unknown): string | undefined => {
  const parsed = answer.safeParse(message)
  if (!parsed.success || parsed.data.parent_tool_use_id || parsed.data.agent_id) return undefined
  const { model } = parsed.data.message
  return model === SYNTHETIC ? undefined : model
}

/** Whether the runtime itself wrote the message in the agent's place: an error, or that it was interrupted. */
const isLocal = (message: unknown): boolean => answer.safeParse(message).data?.message.model === SYNTHETIC

/** One message of the runtime as a step. */
export const stepOf = <Message>(message: Message): RuntimeStep<Message> => {
  const { session, texts } = claudeWords(message)
  return {
    message,
    ...defined({ providerSessionId: session }),
    events: agentSdkReader.read(message),
    texts: isLocal(message) ? [] : texts,
  }
}

/** The meaning of one line of the runtime's own transcript. */
export const writtenStep = (record: unknown): TranscriptStep => ({
  events: transcriptReader.read(record),
  texts: isLocal(record) ? [] : claudeWords(record).texts,
})
