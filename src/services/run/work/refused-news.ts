import { refusedOnce } from '../../../domain/run/refused-tools.ts'
import { keptArgument } from '../../../domain/turn/tool-argument.ts'
import type { RuntimeStep } from '../../../ports/agent/agent-runtime.ts'
import type { RunInProgress } from '../run-in-progress.ts'

/** Counts the tool calls that were refused and those that changed files, and tells of each refusal. */
export const tellRefused = (
  { account, deps, held, news, request }: Pick<RunInProgress, 'account' | 'deps' | 'held' | 'news' | 'request'>,
  { refused = [], writes = 0 }: Pick<RuntimeStep<unknown>, 'refused' | 'writes'>,
): void => {
  account.wrote(writes)
  for (const call of refused) {
    const { toolName, isWrite, allowedBy = null } = call
    account.toolRefused(refusedOnce(request.agent.trim(), call))
    const shown = call.argument === undefined ? null : keptArgument(deps.redact?.(call.argument) ?? call.argument)
    const sessionId = held.session.id
    news.emit({ type: 'tool:refused', sessionId, toolName, argument: shown, isWrite, allowedBy })
  }
}
