import { describe, expect, it } from 'vitest'
import { openPostgres } from '../../src/adapters/postgres/open/open-postgres.ts'
import { unwrap } from '../../src/domain/unwrap.ts'
import { Scene } from '../../src/testing/scene.ts'
import { cloneDatabase, onServer, withDatabase } from '../support/test-databases.ts'

/** A thread, and its summary in the mirror. */
const keptSummary = async (scene: Scene) => {
  const { session, holder } = await scene.worked('search_code')
  const into = { targetAgent: scene.name('opus'), reason: 'A new thread' }
  const { handoff, conversation } = unwrap(await scene.service.openThread({ session, holder, ...into }))
  await scene.store.threadSummaries.keep({
    ...{ handoffId: handoff.id, sourceThreadId: session.conversationId, targetThreadId: conversation.id },
    ...{ agentName: session.agentName, summary: 'What matters', plainText: 'What matters', tokens: 3 },
    ...{ modelUsed: 'extractive', refinements: 0, isEdited: false, timestamp: handoff.initiatedAt },
  })
  return { handoff, source: session.conversationId }
}

describe('a program', () => {
  it('that lacks rights is told its role, the grants and where to look', async () => {
    const owner = withDatabase(process.env.TEST_DATABASE_URL ?? '', await cloneDatabase())
    const role = `batonpass_role_${Math.floor(Math.random() * 2 ** 40).toString(36)}`
    const as = new URL(owner)
    as.username = role
    as.password = 'test'
    await onServer(owner, `create role ${role} login password 'test'`)
    try {
      await onServer(owner, `grant usage on schema batonpass to ${role}`)
      await onServer(owner, `grant select on batonpass.migrations to ${role}`)
      await using store = await openPostgres({ connectionString: as.href })
      const { service } = new Scene({ store, passTime: async () => {} })
      const nobody = '00000000-0000-7000-8000-000000000000' as never
      for (const ask of [
        () => service.openConversation({ originalTask: 'Fix it' }),
        () => store.conversations.find(nobody),
        () => store.conversations.list({}, {}),
      ]) {
        const failure = await ask().then(
          () => undefined,
          (error: unknown) => error,
        )
        expect(failure, ask.toString()).toMatchObject({ code: 'store.failed', retryable: false })
        for (const words of [`The role "${role}" lacks a right`, 'select on its tables', 'baton doctor'])
          expect(String(failure), ask.toString()).toContain(words)
      }
    } finally {
      await onServer(owner, `drop owned by ${role}`)
      await onServer(owner, `drop role ${role}`)
    }
  })

  it('needs the rights docs/operating.md names, and no more', async () => {
    const owner = withDatabase(process.env.TEST_DATABASE_URL ?? '', await cloneDatabase())
    const role = `batonpass_role_${Math.floor(Math.random() * 2 ** 40).toString(36)}`
    const as = new URL(owner)
    as.username = role
    as.password = 'test'
    await onServer(owner, `create role ${role} login password 'test'`)
    try {
      await onServer(owner, `grant usage on schema batonpass to ${role}`)
      await onServer(owner, `grant select on all tables in schema batonpass to ${role}`)
      await onServer(owner, `grant execute on all functions in schema batonpass to ${role}`)
      await using store = await openPostgres({ connectionString: as.href, autoMigrate: true })
      const scene = new Scene({ store, passTime: async () => {} })
      const { handoff } = await scene.initiated()
      unwrap(await scene.service.cancelHandoff({ handoff, reason: 'Nobody came' }))
      const { handoff: next } = await scene.initiated()
      expect(unwrap(await scene.service.completeHandoff({ handoff: next })).session.state).toBe('active')
      const leased = await scene.session(scene.name('claude-code'), undefined, { leaseMs: 60_000 })
      expect(await store.leases.renew(leased.session.id, leased.holder, 60_000)).toBe(true)
      unwrap(await scene.service.completeSession(leased))
      const { handoff: opened, source } = await keptSummary(scene)
      const { items } = await store.threadSummaries.list({ sourceThreadId: source }, {})
      expect(items.map(({ handoffId }) => handoffId)).toEqual([opened.id])
      await expect(onServer(as.href, 'delete from batonpass.messages')).rejects.toMatchObject({ code: '42501' })
    } finally {
      await onServer(owner, `drop owned by ${role}`)
      await onServer(owner, `drop role ${role}`)
    }
  })
})
