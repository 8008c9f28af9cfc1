import assert from 'node:assert/strict'
import { defined } from '../../domain/kernel/defined.ts'
import { conversationId, handoffId } from '../../domain/kernel/ids.ts'
import { instant } from '../../domain/kernel/instant.ts'
import { unwrap } from '../../domain/unwrap.ts'
import { everyPage } from '../../ports/store/page.ts'
import type { KeptSummary, SummaryFilter } from '../../ports/store/thread-summaries.ts'
import type { Scene } from '../scene.ts'
import type { ContractPart } from '../store-contract.ts'

const at = (minute: number) => instant(`2026-11-17T10:${String(minute).padStart(2, '0')}:00Z`)

/** Opens a thread and keeps a summary of it. */
const keptSummary = async (scene: Scene, more: Partial<KeptSummary> = {}): Promise<KeptSummary> => {
  const source = await scene.worked('search_code')
  const opened = unwrap(
    await scene.service.openThread({ ...source, targetAgent: scene.name('opus'), reason: 'A new thread' }),
  )
  const summary: KeptSummary = {
    handoffId: opened.handoff.id,
    sourceThreadId: source.session.conversationId,
    targetThreadId: opened.conversation.id,
    agentName: source.session.agentName,
    summary: '## Objective\nFix the test a\u0000b 🎉 \ud800',
    plainText: 'Objective: Fix the test',
    tokens: 210,
    modelUsed: 'extractive',
    refinements: 0,
    isEdited: false,
    timestamp: at(0),
    ...more,
  }
  await scene.store.threadSummaries.keep(summary)
  return summary
}

const listed = async (scene: Scene, filter: SummaryFilter, limit?: number): Promise<readonly KeptSummary[]> => {
  const found: KeptSummary[] = []
  const pages = everyPage((page) => scene.store.threadSummaries.list(filter, page), defined({ limit }))
  for await (const summary of pages) found.push(summary)
  return found
}

export const threadSummariesContract: ContractPart = {
  about: 'the mirror of summaries',
  cases: {
    'gives a summary back as it was kept, and keeps it once': async (scene) => {
      const summary = await keptSummary(scene)
      await scene.store.threadSummaries.keep({ ...summary, summary: 'another', tokens: 1 })
      const { sourceThreadId } = summary
      assert.deepEqual(await scene.store.threadSummaries.list({ sourceThreadId }, {}), { items: [summary] })
    },
    'keeps nothing without the handoff it belongs to': async (scene) => {
      const summary = await keptSummary(scene)
      const { sourceThreadId } = summary
      const strangers = [
        { ...summary, handoffId: handoffId(scene.ids.next()) },
        { ...(await keptSummary(scene)), sourceThreadId, handoffId: handoffId(scene.ids.next()) },
        { ...summary, sourceThreadId: conversationId(scene.ids.next()), handoffId: handoffId(scene.ids.next()) },
      ]
      for (const stranger of strangers)
        await assert.rejects(scene.store.threadSummaries.keep(stranger), { code: 'store.integrity' })
      assert.deepEqual(await listed(scene, { sourceThreadId }), [summary])
    },
    'lists the newest first, in pages, by agent, source thread and time': async (scene) => {
      const agentName = scene.name('lister')
      const made = []
      for (const minute of [2, 5, 1, 5, 4]) made.push(await keptSummary(scene, { agentName, timestamp: at(minute) }))
      const other = await keptSummary(scene, { timestamp: at(3) })
      const newest = made.toSorted((one, two) =>
        `${two.timestamp} ${two.handoffId}` < `${one.timestamp} ${one.handoffId}` ? -1 : 1,
      )
      assert.deepEqual(await listed(scene, { agentName }), newest)
      assert.deepEqual(await listed(scene, { agentName }, 2), newest)
      const { items, next } = await scene.store.threadSummaries.list({ agentName }, { limit: 5 })
      assert.deepEqual([items.length, next], [5, undefined])
      assert.deepEqual(await listed(scene, { sourceThreadId: other.sourceThreadId }), [other])
      const minutes = async (filter: SummaryFilter) =>
        (await listed(scene, { agentName, ...filter })).map(({ timestamp }) => timestamp)
      assert.deepEqual(await minutes({ since: at(4) }), [at(5), at(5), at(4)])
      assert.deepEqual(await minutes({ until: at(4) }), [at(2), at(1)])
      assert.deepEqual(await minutes({ since: at(2), until: at(5) }), [at(4), at(2)])
      assert.deepEqual(await minutes({ sourceThreadId: other.sourceThreadId }), [])
    },
    'refuses a cursor that it never gave out': async (scene) => {
      for (const after of ['x', Buffer.from('["a"]').toString('base64url')])
        await assert.rejects(scene.store.threadSummaries.list({}, { after }), { name: 'RefusedError' })
    },
    'counts by agent and model': async (scene) => {
      const [agentName, second] = [scene.name('counted-a'), scene.name('counted-b')]
      await keptSummary(scene, { agentName, tokens: 200, refinements: 2, timestamp: at(1) })
      await keptSummary(scene, { agentName, tokens: 301, isEdited: true, refinements: 1, timestamp: at(9) })
      await keptSummary(scene, { agentName, modelUsed: 'person', isEdited: true, tokens: 90, timestamp: at(3) })
      await keptSummary(scene, { agentName: second })
      const extractive = {
        agentName,
        modelUsed: 'extractive',
        summaries: 2,
        edited: 1,
        refinements: 3,
        meanTokens: 251,
      }
      const person = { agentName, modelUsed: 'person', summaries: 1, edited: 1, refinements: 0, meanTokens: 90 }
      assert.deepEqual(await scene.store.threadSummaries.figures({ agentName }), [
        { ...extractive, latest: at(9) },
        { ...person, latest: at(3) },
      ])
      assert.deepEqual(await scene.store.threadSummaries.figures({ agentName, since: at(2), until: at(9) }), [
        { ...person, latest: at(3) },
      ])
      assert.deepEqual(await scene.store.threadSummaries.figures({ agentName: scene.name('nobody') }), [])
    },
  },
}
