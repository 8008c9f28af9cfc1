import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { commandId } from '../../src/domain/kernel/ids.ts'
import type { WorkingSession } from '../../src/domain/session/agent-session.ts'
import { unwrap } from '../../src/domain/unwrap.ts'
import { refusal } from '../../src/entry/testing.ts'
import { sha256 } from '../../src/ports/system/sha256.ts'
import { AuditService } from '../../src/services/audit/audit-service.ts'
import { Scene } from '../../src/testing/scene.ts'
import { openRewindable, REWINDABLE_KINDS, type RewindableStore } from './rewindable-store.ts'

const SET_BACK = { name: 'StoreFailure', code: 'store.set_back', retryable: false }

describe.each(REWINDABLE_KINDS)('a store that was set back, on %s', (kind) => {
  let rewindable: RewindableStore
  let scene: Scene

  beforeEach(async () => {
    rewindable = await openRewindable(kind)
    scene = new Scene({ store: rewindable.store, passTime: async () => {} })
  }, 120_000)
  afterEach(() => rewindable[Symbol.asyncDispose]())

  const named = () => ({ commandId: commandId(scene.ids.next()) })

  /** A session with two turns in the copy, and three more that are lost with it. */
  const workedOn = async () => {
    const copied = await scene.work(await scene.work(await scene.session(), 'read'), 'edit')
    await rewindable.keepCopy()
    let worked = copied
    for (const tool of ['test', 'fix', 'test']) worked = await scene.work(worked, tool)
    return { copied, worked }
  }

  const turnsOf = async ({ session }: WorkingSession) => (await scene.store.sessions.find(session.id))?.progress.turns

  it('takes no turn of a holder that was answered more, and says what it had and what is there', async () => {
    const { copied, worked } = await workedOn()
    await rewindable.setBack()
    const failure = scene.service.recordTurn({ ...worked, ...scene.turn('more') })
    await expect(failure).rejects.toMatchObject(SET_BACK)
    const { id, version } = worked.session
    await expect(failure).rejects.toThrow(`session ${id} as at version ${version}, turns 5`)
    await expect(failure).rejects.toThrow(`at version ${copied.session.version}, turns 2`)
    expect(await turnsOf(copied)).toBe(2)
  })

  it('nor of one that has no more than the id, or an older copy that fits', async () => {
    const { copied, worked } = await workedOn()
    await rewindable.setBack()
    const { holder, session } = worked
    await expect(scene.service.recordTurn({ session: session.id, holder, ...scene.turn() })).rejects.toMatchObject(
      SET_BACK,
    )
    await expect(scene.service.recordTurn({ ...copied, ...scene.turn() })).rejects.toMatchObject(SET_BACK)
    await expect(scene.service.pauseSession(copied)).rejects.toMatchObject(SET_BACK)
    await expect(scene.service.takeOverSession({ session: session.id })).rejects.toMatchObject(SET_BACK)
    expect(await turnsOf(copied)).toBe(2)
  })

  it('carries out no command again that was acknowledged', async () => {
    const { copied } = await workedOn()
    const opening = { originalTask: 'Another task', ...named() }
    unwrap(await scene.service.openConversation(opening))
    const { holder } = copied
    const child = { session: copied.session.id, holder, targetAgent: scene.name('helper'), ...named() }
    const { handoff } = unwrap(await scene.service.openThread(child))
    const sending = { session: copied.session.id, text: 'Look here', ...named() }
    unwrap(await scene.context.send(sending))
    await rewindable.setBack()
    await expect(scene.service.openConversation(opening)).rejects.toMatchObject(SET_BACK)
    await expect(scene.service.openThread(child)).rejects.toMatchObject(SET_BACK)
    await expect(scene.context.send(sending)).rejects.toMatchObject(SET_BACK)
    expect(await scene.store.handoffs.find(handoff.id)).toBeUndefined()
  })

  it('is no place where something was never there, if this process was answered with it', async () => {
    await rewindable.keepCopy()
    const externalKey = scene.name('issue-7')
    const { conversation } = unwrap(await scene.service.openConversation({ originalTask: 'Fix it', externalKey }))
    const worked = await scene.work(await scene.session('claude-code', conversation), 'read')
    await rewindable.setBack()
    const failure = scene.service.recordTurn({ ...worked, ...scene.turn() })
    await expect(failure).rejects.toMatchObject(SET_BACK)
    await expect(failure).rejects.toThrow('in the store it is not there')
    const agent = { agentName: 'claude-code', backend: 'scripted' }
    await expect(scene.service.startSession({ conversationId: conversation.id, ...agent })).rejects.toMatchObject(
      SET_BACK,
    )
    await expect(scene.service.openConversation({ originalTask: 'Fix it', externalKey })).rejects.toMatchObject(
      SET_BACK,
    )
    // One that nobody here was answered with is not there, as ever.
    const session = scene.ids.next() as typeof worked.session.id
    expect(refusal(await scene.service.recordTurn({ session, holder: worked.holder, ...scene.turn() })).code).toBe(
      'session.not_found',
    )
  })

  // An engine takes seconds to start, and what follows is the same read.
  if (kind === 'pglite') return

  it('starts no session where one was started before', async () => {
    const conversation = await scene.conversation()
    await rewindable.keepCopy()
    unwrap(await scene.service.completeSession(await scene.session('claude-code', conversation)))
    await rewindable.setBack()
    await expect(scene.session('claude-code', conversation)).rejects.toMatchObject(SET_BACK)
  })

  it('hands nothing off again that was handed off', async () => {
    const worked = await scene.work(await scene.session(), 'read')
    const to = { targetAgent: scene.name('opus'), reason: 'Out of ideas' }
    const initiated = unwrap(await scene.service.initiateHandoff({ ...worked, ...to }))
    await rewindable.keepCopy()
    const claim = { targetAgent: to.targetAgent, claimant: 'worker' }
    unwrap(await scene.service.claimNext(claim))
    unwrap(await scene.service.completeHandoff({ handoff: initiated.handoff.id, claimant: 'worker' }))
    await rewindable.setBack()
    await expect(scene.service.claimNext(claim)).rejects.toMatchObject(SET_BACK)
    await expect(scene.service.acceptHandoff({ ...initiated, claimant: 'worker' })).rejects.toMatchObject(SET_BACK)
    await expect(
      scene.service.cancelHandoff({ handoff: initiated.handoff.id, reason: 'Never mind' }),
    ).rejects.toMatchObject(SET_BACK)
    expect((await scene.store.handoffs.find(initiated.handoff.id))?.status).toBe('initiated')
  })

  it('takes no reading of a window that has got further', async () => {
    const { session } = await scene.session()
    const sample = (promptTokens: number) => {
      const reading = { state: 'metered' as const, promptTokens, outputTokens: 10 }
      return scene.context.report({ session: session.id, report: { type: 'sample', reading } })
    }
    unwrap(await sample(100))
    await rewindable.keepCopy()
    unwrap(await sample(200))
    unwrap(await sample(300))
    await rewindable.setBack()
    await expect(sample(400)).rejects.toMatchObject(SET_BACK)
  })

  it('is not called intact in the process that was answered; another one cannot tell', async () => {
    const { worked } = await workedOn()
    const { conversationId } = worked.session
    await rewindable.setBack()
    const audit = new AuditService({ store: scene.store, sha256 })
    await expect(audit.verify(conversationId)).rejects.toMatchObject(SET_BACK)
    const elsewhere = new AuditService({ store: await rewindable.another(), sha256 })
    expect(unwrap(await elsewhere.verify(conversationId)).intact).toBe(true)
  })

  it('looks like any other to a process that was never answered', async () => {
    const { worked } = await workedOn()
    await rewindable.setBack()
    const other = scene.serviceOver(await rewindable.another())
    const { holder, session } = worked
    const recorded = unwrap(await other.recordTurn({ session: session.id, holder, ...scene.turn() }))
    expect(recorded.session.progress.turns).toBe(3)
    // Others have moved it on since: the version alone would say nothing any more.
    for (let moved = recorded.session; moved.version < worked.session.version; )
      moved = unwrap(await other.takeOverSession({ session: moved.id })).session
    await expect(scene.service.recordTurn({ ...worked, ...scene.turn() })).rejects.toMatchObject(SET_BACK)
  })
})
