import { agentSessionId, type ConversationId, commandId, unwrap } from '../../src/entry/index.ts'
import type { Scene } from '../../src/testing/scene.ts'

const TOTALS = { inputTokens: 12_345, outputTokens: 678, requests: 9, costUsd: 0.125 }

/** What of a whole conversation a test may want to name. */
export interface WholeConversation {
  readonly id: ConversationId
  readonly child: ConversationId
}

/**
 * A conversation that has a row in every table, and among its rows every column filled: a transfer that was cancelled, a
 * restart that was completed, a session that failed, a thread, and a handoff that waits prepared.
 */
export const wholeConversation = async (scene: Scene): Promise<WholeConversation> => {
  const { service } = scene
  const { conversation } = unwrap(
    await service.openConversation({
      originalTask: 'Fix the flaky test',
      externalKey: `${scene.name('key')}-${scene.ids.next()}`,
      subject: 'team-7',
      workspace: { workingDirectory: '/srv/work', worktreePath: '/srv/tree', branch: 'main', baseBranch: 'trunk' },
      restartBudget: { maxRestarts: 9, deadlineMs: 86_400_000, maxCostUsd: 5, whenExhausted: 'stop' },
      parentId: (await scene.conversation()).id,
      metadata: { ticket: 'T-1' },
    }),
  )
  const first = unwrap(await service.failSession(await worked(scene, conversation.id, 'provider-1')))
  const { session, child } = await handedOn(scene, conversation.id, first.session.id)
  const named = { commandId: commandId(scene.ids.next()) }
  const next = unwrap(await service.recordTurn({ ...session, ...scene.turn('search'), ...named }))
  unwrap(await scene.context.send({ session: next.session.id, text: 'Mind the time' }))
  unwrap(await service.recordLookBack({ session: next.session.id, by: 'words', text: 'flaky test', found: 2 }))
  const waiting = unwrap(await service.initiateHandoff({ ...next, targetAgent: 'haiku', reason: 'Stuck again' }))
  unwrap(await service.acceptHandoff({ handoff: waiting.handoff.id, claimant: 'worker' }))
  unwrap(
    await service.prepareHandoff({
      handoff: waiting.handoff.id,
      claimant: 'worker',
      continuation: 'Begin here',
      targetSessionId: agentSessionId(scene.ids.next()),
      holder: session.holder,
    }),
  )
  return { id: conversation.id, child }
}

/** A session that has worked, was accounted for, and is to be failed. */
const worked = async (scene: Scene, conversationId: ConversationId, providerSessionId: string) => {
  const agent = { agentName: scene.name('claude-code'), backend: 'scripted', model: 'opus-4' }
  const request = {
    conversationId,
    ...agent,
    providerSessionId,
    prompt: 'Begin',
    leaseMs: 60_000,
    metadata: { run: 1 },
  }
  const started = unwrap(await scene.service.startSession(request))
  const turned = unwrap(await scene.service.recordTurn({ ...started, ...scene.turn('read_file', 'run_tests') }))
  const accounted = unwrap(await scene.service.accountSession({ ...started, ...turned, totals: TOTALS }))
  return { session: accounted.session, holder: started.holder, reason: 'The machine went away' }
}

/** A transfer that was cancelled, then a restart that was completed, with a thread opened between. */
const handedOn = async (scene: Scene, conversationId: ConversationId, parentSessionId: string) => {
  const { service } = scene
  const started = await scene.session(
    scene.name('claude-code'),
    unwrapped(await scene.store.conversations.find(conversationId)),
    {
      parentSessionId: agentSessionId(parentSessionId),
      model: 'opus-4',
    },
  )
  const turned = unwrap(await service.recordTurn({ ...started, ...scene.turn('read_file', 'run_tests') }))
  const trace = { traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01', tracestate: 'vendor=1' }
  const asked = {
    ...turned,
    targetAgent: 'opus',
    reason: 'Nearly full',
    traceContext: trace,
    document: 'Notes',
    metadata: { by: 'hand' },
  }
  const { handoff } = unwrap(await service.initiateHandoff(asked))
  unwrap(await service.acceptHandoff({ handoff: handoff.id, claimant: 'worker' }))
  unwrap(await service.cancelHandoff({ handoff: handoff.id, reason: 'Changed my mind', by: 'worker' }))
  const thread = unwrap(
    await service.openThread({
      session: started.session.id,
      holder: started.holder,
      targetAgent: 'haiku',
      reason: 'A side question',
      flags: ['delegated'],
    }),
  )
  const { messages, ...usage } = scene.turn('search')
  const outcome = { role: 'user', origin: 'batonpass', text: 'Haiku knows it', reports: thread.handoff.id } as const
  const again = { ...usage, session: started.session.id, holder: started.holder, messages: [outcome, ...messages] }
  const more = unwrap(await service.recordTurn(again))
  const restart = unwrap(await service.restartSession({ ...started, ...more, reason: 'Full' }))
  const open = unwrapped(restart.handoff)
  const checkpoint = { outcome: 'kept', reason: 'Said so', characters: 7, isCut: false, totals: TOTALS } as const
  const kept = { handoff: open.id, document: 'What I know', flags: [], checkpoint, holder: started.holder }
  unwrap(await service.keepCheckpoint(kept))
  const session = unwrap(await service.completeHandoff({ handoff: open.id, model: 'opus-4' }))
  return { session, child: thread.conversation.id }
}

const unwrapped = <T>(value: T | undefined): T => {
  if (value === undefined) throw new Error('The scene lacks a part')
  return value
}
