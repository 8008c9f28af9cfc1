import type { UsageTotals } from '../../domain/window/usage-reading.ts'
import type { RunningAgent, RuntimeQuestion, RuntimeReply, RuntimeStep } from '../../ports/agent/agent-runtime.ts'
import { RuntimeFailure, type RuntimeFailureCode } from '../../ports/agent/runtime-failure.ts'
import type { CodexEvent, CodexOptions, CodexThreadOptions } from './codex-sdk.ts'
import { execReader } from './exec-reader.ts'

/** Every switch Codex has for tools of its own. What is left is `apply_patch`, which a read-only sandbox refuses. */
const SWITCHES: readonly string[] = [
  ...['shell_tool', 'unified_exec', 'view_image', 'image_generation', 'goals', 'apps', 'plugins', 'tool_suggest'].map(
    (feature) => `features.${feature}=false`,
  ),
  'features.multi_agent=false',
  // A thread remembers that it could have subagents, whatever the features say later, and keeps a tool to find them.
  'agents.max_depth=0',
  'tools.experimental_request_user_input.enabled=false',
  'tools.update_plan.enabled=false',
]

/** The same options with as few tools as Codex can be told to have. The last word on a setting counts. */
export const withoutTools = (codex: CodexOptions): CodexOptions => {
  const servers = Object.keys(codex.config?.mcp_servers ?? {}).map((name) => `mcp_servers.${name}.enabled=false`)
  return { ...codex, configOverrides: [...(codex.configOverrides ?? []), ...SWITCHES, ...servers] }
}

/** How a thread is resumed that is to answer and to do nothing. */
export const ANSWER_ONLY = {
  sandboxMode: 'read-only',
  approvalPolicy: 'never',
  webSearchMode: 'disabled',
  networkAccessEnabled: false,
} as const satisfies CodexThreadOptions

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
