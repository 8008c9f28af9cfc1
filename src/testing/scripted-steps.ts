import { defined } from '../domain/kernel/defined.ts'
import type { WindowEvent } from '../domain/window/window-event.ts'
import type { RuntimeStep } from '../ports/agent/agent-runtime.ts'
import type { ScriptedMessage, ScriptedTool, ScriptedTurn } from './script.ts'

/** A step in which nothing was said. */
export const step = (providerSessionId: string) => ({ providerSessionId, events: [], texts: [] })

/** The steps of one turn of a script. */
export const stepsOf = (
  turn: ScriptedTurn,
  session: string,
  number: number,
): readonly RuntimeStep<ScriptedMessage>[] => {
  const {
    text,
    promptTokens,
    outputTokens = 0,
    tools = [],
    heard = [],
    afterCompaction = false,
    handsOver,
    delegates,
  } = turn
  const key = `${session}-${number}`
  const request: WindowEvent =
    promptTokens === undefined ? { type: 'unmetered' } : { type: 'request', key, promptTokens, outputTokens }
  const used = tools.map((tool): ScriptedTool => (typeof tool === 'string' ? { name: tool } : tool))
  const calls = used.map(({ name: toolName, argument }, index) =>
    defined({ type: 'tool_call' as const, callId: `${key}-${index + 1}`, toolName, argument }),
  )
  const spoken = (role: ScriptedMessage['role'], words: string): ScriptedMessage => ({ role, text: words, session })
  const compaction: readonly RuntimeStep<ScriptedMessage>[] = afterCompaction
    ? [
        { ...step(session), message: spoken('system', 'compacting'), events: [{ type: 'compacting', key }] },
        {
          ...step(session),
          message: spoken('system', 'compacted'),
          events: [{ type: 'compaction', trigger: 'auto', key }],
        },
      ]
    : []
  return [
    ...compaction,
    ...heard.map((said) => ({
      ...step(session),
      message: spoken('user', said.text),
      events: [{ type: 'appended' as const, characters: said.text.length }],
      texts: [{ role: 'user' as const, ...said }],
    })),
    {
      ...step(session),
      message: spoken('assistant', text),
      ...(promptTokens === undefined && { beginsTurn: true }),
      events: [request, ...calls],
      texts: [{ role: 'assistant', text }],
      ...(handsOver !== undefined && { asksTransfer: handsOver }),
      ...(delegates !== undefined && { asksThreads: delegates }),
    },
    ...used.map(({ result = 'ok' }, index) => ({
      ...step(session),
      message: spoken('tool', result),
      events: [{ type: 'appended' as const, characters: result.length }],
      texts: [{ role: 'tool' as const, text: result, ...defined({ id: calls[index]?.callId }) }],
    })),
  ]
}
