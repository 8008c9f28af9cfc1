import { agentSessionId, type TurnId, turnId } from '../../../domain/kernel/ids.ts'
import type { HandoffHistory } from '../../../services/history/handoff-history.ts'
import { notFound } from '../choose/history-args.ts'
import type { NamedThing } from '../choose/matching-things.ts'
import { conversationOf, subjectIn } from '../choose/subject.ts'
import { withHistory } from '../choose/with-history.ts'
import { newestSession } from '../render/conversation-rows.ts'
import { toJson, widthOn } from '../render/render-text.ts'
import { renderWindow } from '../render/render-window.ts'
import type { Run } from '../tree/command.ts'

/** Shows what a session's window held right after a turn. */
export const sessionsWindow: Run = async (invocation) => {
  const subject = subjectIn(invocation, { kinds: ['turn', 'session'] })
  await withHistory(invocation, async (history) => {
    const turn = await turnOf(history, await subject(history))
    const window = await history.windowAt(turn)
    if (window === undefined) throw notFound('id', `there is no turn ${turn}`)
    invocation.out.line(
      invocation.values.json === true ? toJson(window) : renderWindow(window, widthOn(invocation.out)).join('\n'),
    )
  })
}

/** A turn, or the last one of a session or of a conversation's newest session. @throws RefusedError */
const turnOf = async (history: HandoffHistory, thing: NamedThing): Promise<TurnId> => {
  if (thing.kind === 'turn') return turnId(thing.id)
  const session =
    thing.kind === 'session'
      ? await history.session(agentSessionId(thing.id))
      : await newestSession(history, await conversationOf(history, thing))
  if (session?.progress.lastTurnId === undefined) throw notFound(thing.kind, 'its newest session has no turn yet')
  return session.progress.lastTurnId
}
