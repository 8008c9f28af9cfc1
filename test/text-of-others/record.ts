import { type Batonpass, unwrap } from '../../src/entry/index.ts'
import { NASTY } from './nasty.ts'

/** A name that is as nasty, and another one. */
export const other = (mark: string): string => `${mark} ${NASTY}`

/** A record in which every text is hostile that somebody else can fill: agents, hooks, runtimes, callers and claimants. */
export const hostileRecord = async ({ handoffs, threads }: Batonpass, workingDirectory: string) => {
  const opening = { originalTask: NASTY, externalKey: other('key'), subject: NASTY }
  const workspace = { workingDirectory, branch: NASTY }
  const { conversation } = unwrap(await handoffs.openConversation({ ...opening, workspace, metadata: { note: NASTY } }))
  const agent = { agentName: NASTY, backend: NASTY, model: NASTY, providerSessionId: NASTY }
  const said = { prompt: NASTY, hookContext: NASTY, metadata: { note: NASTY } }
  const started = unwrap(await handoffs.startSession({ conversationId: conversation.id, ...agent, ...said }))
  const toolCalls = [{ callId: NASTY, toolName: NASTY, argument: NASTY }]
  const usage = { state: 'metered', promptTokens: 100, outputTokens: 10 } as const
  const messages = [
    { role: 'user', text: NASTY },
    { role: 'assistant', text: NASTY, toolCalls },
    { role: 'tool', text: NASTY, providerMessageId: NASTY },
    { role: 'system', text: NASTY },
  ] as const
  const worked = unwrap(await handoffs.recordTurn({ ...started, messages, usage }))
  const results = [
    { ok: true, name: NASTY, type: 'shell', output: NASTY, errorOutput: NASTY, durationMs: 1 },
    {
      ok: false,
      name: NASTY,
      type: 'shell',
      output: NASTY,
      durationMs: 1,
      error: { code: 'hook.exit', message: NASTY },
    },
  ] as const
  const { id: conversationId } = conversation
  const { id: sessionId } = started.session
  unwrap(await handoffs.recordHooks({ conversationId, sessionId, moment: 'on_error', results }))
  const asked = { targetAgent: other('first'), reason: NASTY, document: NASTY }
  const { holder } = started
  const first = unwrap(await handoffs.initiateHandoff({ ...worked, holder, ...asked })).handoff
  unwrap(await handoffs.cancelHandoff({ handoff: first, reason: NASTY }))
  const again = unwrap(await handoffs.recordTurn({ session: sessionId, holder, messages, usage }))
  const second = unwrap(
    await handoffs.initiateHandoff({ session: again.session.id, holder, ...asked, targetAgent: other('second') }),
  ).handoff
  unwrap(await handoffs.acceptHandoff({ handoff: second, claimant: NASTY }))
  const child = { child: { externalKey: other('thread'), originalTask: NASTY } }
  const completed = unwrap(await handoffs.completeHandoff({ handoff: second.id, claimant: NASTY, model: NASTY }))
  const next = unwrap(await handoffs.recordTurn({ ...completed, messages, usage }))
  const thread = unwrap(
    await handoffs.openThread({ ...next, targetAgent: NASTY, reason: NASTY, document: NASTY, ...child }),
  )
  const waiting = unwrap(
    await handoffs.initiateHandoff({
      session: next.session.id,
      holder: completed.holder,
      ...asked,
      targetAgent: NASTY,
    }),
  ).handoff
  const ended = unwrap(await handoffs.openConversation({ originalTask: NASTY }))
  const lost = unwrap(await handoffs.startSession({ conversationId: ended.conversation.id, ...agent }))
  const failed = unwrap(await handoffs.failSession({ session: lost.session.id, holder: lost.holder, reason: NASTY }))
  const [turn] = worked.turns
  return { conversation, session: worked.session, turn, completed, thread, waiting, failed, threads }
}
