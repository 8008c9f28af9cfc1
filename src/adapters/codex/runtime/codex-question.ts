import type { UsageTotals } from '../../../domain/window/usage-reading.ts'
import type { RunningAgent, RuntimeQuestion, RuntimeReply, RuntimeStep } from '../../../ports/agent/agent-runtime.ts'
import { RuntimeFailure, type RuntimeFailureCode } from '../../../ports/agent/runtime-failure.ts'
import { execReader } from '../readers/exec-reader.ts'
import type { CodexEvent } from './codex-sdk.ts'

const unanswered = (message: string, code: RuntimeFailureCode = 'runtime.question_failed'): RuntimeFailure =>
  new RuntimeFailure(code, message)

/** The last thing a run said. One that uses a tool is stopped: it was asked, not sent to work. @throws RuntimeFailure */
export const answerOf = async (
  run: RunningAgent<CodexEvent>,
  { onUsage }: Pick<RuntimeQuestion, 'onUsage'> = {},
): Promise<RuntimeReply> => {
  let text: string | undefined
  let totals: UsageTotals | undefined
  for await (const step of run.steps) {
    if (step.totals !== undefined) onUsage?.(step.totals)
    const tool = toolIn(step)
    if (tool !== undefined) throw unanswered(`Codex used the tool ${tool} when it was only asked`, 'runtime.no_words')
    text = step.texts.findLast(({ role }) => role === 'assistant')?.text ?? text
    totals = step.totals ?? totals
    if (step.end !== undefined && step.end.type !== 'idle') {
      throw unanswered(
        'message' in step.end ? step.end.message : 'Codex was interrupted before it answered',
        step.end.type === 'overflow' ? 'runtime.prompt_too_long' : undefined,
      )
    }
  }
  if (text === undefined) throw unanswered('Codex ended its turn and said nothing', 'runtime.no_words')
  return totals === undefined ? { text } : { text, totals }
}

/** By the event too, which comes while the tool is at work; the rollout is read when it is done. */
const toolIn = ({ message, events }: RuntimeStep<CodexEvent>): string | undefined =>
  [...events, ...execReader.read(message)].flatMap((event) => (event.type === 'tool_call' ? [event.toolName] : []))[0]
