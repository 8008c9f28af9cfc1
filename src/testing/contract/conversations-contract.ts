import assert from 'node:assert/strict'
import { taskOf } from '../../domain/conversation/conversation.ts'
import { terminalTask, titleOf } from '../../domain/conversation/title.ts'
import { conversationId } from '../../domain/kernel/ids.ts'
import { unwrap } from '../../domain/unwrap.ts'
import type { ContractPart } from '../store-contract.ts'
import { assertIntact } from './trail.ts'

export const conversationsContract: ContractPart = {
  about: 'conversations',
  cases: {
    'reads back exactly what was opened': async (scene) => {
      const workspace = {
        workingDirectory: 'repo',
        worktreePath: 'repo/.worktrees/fix',
        branch: 'fix',
        baseBranch: 'main',
      }
      const { conversation } = unwrap(
        await scene.service.openConversation({
          originalTask: 'Fix the flaky test',
          externalKey: scene.name('job'),
          subject: 'tenant-7',
          workspace,
          restartBudget: { maxRestarts: 5, deadlineMs: 60_000, maxCostUsd: 2.5, whenExhausted: 'carry_on' },
        }),
      )
      assert.deepEqual(conversation.workspace, workspace)
      assert.deepEqual(await scene.store.conversations.find(conversation.id), conversation)
      assert.deepEqual(await scene.store.conversations.findByExternalKey(scene.name('job')), conversation)
    },
    'keeps the first line of the first prompt where the task was nobody’s words': async (scene) => {
      const { service, store } = scene
      const originalTask = terminalTask('claude-code', '/home/me/shop')
      const { conversation } = unwrap(await service.openConversation({ originalTask }))
      for (const prompt of ['Fix the till\nIt is \0 slow', 'Now the docs'])
        unwrap(await service.askConversation({ conversation: conversation.id, prompt }))
      const found = await store.conversations.find(conversation.id)
      assert.deepEqual(found?.asked?.first, { prompt: 'Fix the till' })
      assert.equal(found && titleOf(found), 'Fix the till')
      assert.equal(found && taskOf(found), 'Now the docs')
      await assertIntact(scene, conversation.id)
    },
    'answers undefined for what is not there': async (scene) => {
      const absent = conversationId(scene.ids.next())
      assert.equal(await scene.store.conversations.find(absent), undefined)
      assert.equal(await scene.store.conversations.findByExternalKey(scene.name('nothing')), undefined)
      assert.equal(await scene.store.conversations.lineage(absent), undefined)
    },
    'gives one external key to one conversation, however many open it at once': async (scene) => {
      const request = { originalTask: 'Fix it', externalKey: scene.name('job') }
      const opened = await Promise.all(Array.from({ length: 5 }, () => scene.service.openConversation(request)))
      const ids = new Set(opened.map((result) => unwrap(result).conversation.id))
      assert.equal(ids.size, 1)
    },
    'finds a lineage through ancestors and descendants': async (scene) => {
      const root = await scene.worked('read_file')
      const request = { reason: 'A side question', targetAgent: scene.name('helper') }
      const child = unwrap(await scene.service.openThread({ ...root, ...request }))
      const worked = unwrap(await scene.service.recordTurn({ ...child, ...scene.turn('search') }))
      const grandchild = unwrap(await scene.service.openThread({ ...worked, ...request }))
      const lineage = await scene.history.lineage(child.conversation.id)
      assert.deepEqual(
        lineage?.ancestors.map(({ id }) => id),
        [root.session.conversationId],
      )
      assert.deepEqual(lineage?.openedBy, child.handoff)
      assert.deepEqual(lineage?.sessions, [worked.session])
      assert.deepEqual(lineage?.handoffs, [grandchild.handoff])
      assert.deepEqual(lineage?.threads, [
        {
          conversation: grandchild.conversation,
          openedBy: grandchild.handoff,
          sessions: [grandchild.session],
          handoffs: [],
          threads: [],
        },
      ])
    },
  },
}
