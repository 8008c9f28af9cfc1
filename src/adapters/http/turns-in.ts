import type { z } from 'zod'
import { defined } from '../../domain/kernel/defined.ts'
import { instantIn } from '../../domain/kernel/instant.ts'
import type { MessageInput, TurnInput } from '../../domain/turn/turn.ts'
import type { UsageReading } from '../../domain/window/usage-reading.ts'
import type { turnsBody } from './schemas.ts'

type TurnOut = z.output<typeof turnsBody>['turns'][number]

/**
 * A turn as a request describes it. A program with the master token vouches for what its person said; with the token of
 * a session, which its agent may have, a user's text is of unknown origin.
 */
export const turnIn = ({ messages, usage, window_tokens, producer_time }: TurnOut, isVouchedFor: boolean): TurnInput =>
  defined({
    messages: messages.map((message) => messageIn(message, isVouchedFor)),
    usage: usageIn(usage),
    window:
      window_tokens === undefined ? undefined : { hardLimit: { tokens: window_tokens, source: 'runtime' as const } },
    producedAt: instantIn(producer_time),
  })

const messageIn = (message: TurnOut['messages'][number], isVouchedFor: boolean): MessageInput => {
  if (message.role === 'user' && !isVouchedFor) return { ...message, origin: 'unknown' }
  if (message.role !== 'assistant') return message
  const toolCalls = message.tool_calls?.map(({ call_id: callId, tool_name: toolName, argument }) =>
    defined({ callId, toolName, argument }),
  )
  return defined({ role: message.role, text: message.text, toolCalls })
}

const usageIn = (usage: TurnOut['usage']): UsageReading | undefined => {
  if (usage === undefined) return undefined
  return 'used_percentage' in usage
    ? { state: 'percentage', usedPercent: usage.used_percentage }
    : { state: 'metered', promptTokens: usage.prompt_tokens, outputTokens: usage.output_tokens }
}
