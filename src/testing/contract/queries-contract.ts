import assert from 'node:assert/strict'
import type { HandoffMetadata } from '../../domain/handoff/handoff.ts'
import type { ConversationId } from '../../domain/kernel/ids.ts'
import { unwrap } from '../../domain/unwrap.ts'
import type { HandoffFilter } from '../../ports/store/history-filters.ts'
import { ID_KINDS } from '../../ports/store/id-search.ts'
import { HandoffService } from '../../services/handoff-service.ts'
import { FixedClock } from '../fixed-clock.ts'
import type { Scene } from '../scene.ts'
import type { ContractPart } from '../store-contract.ts'

/** Long enough for a slow store to answer within it, short enough to wait for. */
const SHORT_CLAIM_MS = 400

const idsOf = (items: readonly { readonly id: string }[]): readonly string[] => items.map(({ id }) => id)

const collect = async <Item extends { readonly id: string }>(list: AsyncIterable<Item>): Promise<readonly string[]> => {
  const found: string[] = []
  for await (const { id } of list) found.push(id)
  return found
}

/** The handoffs a filter finds among those that an agent of this scene received. */
const found = async (scene: Scene, filter: HandoffFilter): Promise<readonly string[]> =>
  collect(scene.history.eachHandoff({ targetAgent: scene.name('opus'), ...filter }))

/** Handoffs a second apart. */
const initiatedApart = async (scene: Scene, count: number): Promise<readonly HandoffMetadata[]> => {
  const made: HandoffMetadata[] = []
  for (let number = 0; number < count; number += 1) {
    made.push((await scene.initiated()).handoff)
    scene.clock.advance(1_000)
  }
  return made
}

export const queriesContract: ContractPart = {
  about: 'queries',
  cases: {
    'lists handoffs from either end, page by page': async (scene) => {
      const made = idsOf(await initiatedApart(scene, 5))
      assert.deepEqual(await found(scene, {}), made)
      assert.deepEqual(await found(scene, { order: 'newest_first' }), [...made].reverse())
      const targetAgent = scene.name('opus')
      for (const order of ['oldest_first', 'newest_first'] as const) {
        const expected = order === 'oldest_first' ? made : [...made].reverse()
        const first = await scene.store.handoffs.list({ targetAgent, order }, { limit: 2 })
        assert.deepEqual(idsOf(first.items), expected.slice(0, 2))
        assert.ok(first.next)
        const rest = await scene.store.handoffs.list({ targetAgent, order }, { limit: 3, after: first.next })
        assert.deepEqual(idsOf(rest.items), expected.slice(2))
        assert.equal(rest.next, undefined)
        assert.deepEqual(await collect(scene.history.eachHandoff({ targetAgent, order }, { limit: 1 })), expected)
      }
    },
    'orders handoffs of one moment by id': async (scene) => {
      const made = [(await scene.initiated()).handoff.id, (await scene.initiated()).handoff.id].sort()
      assert.deepEqual(await found(scene, {}), made)
      assert.deepEqual(
        await collect(scene.history.eachHandoff({ targetAgent: scene.name('opus') }, { limit: 1 })),
        made,
      )
    },
    'finds handoffs by the agent on either side, each once': async (scene) => {
      const [given] = await initiatedApart(scene, 1)
      const taken = unwrap(await scene.service.completeHandoff({ handoff: given as HandoffMetadata }))
      const worked = unwrap(await scene.service.recordTurn({ ...taken, ...scene.turn() }))
      const restart = { kind: 'context_restart' as const, targetAgent: scene.name('opus'), reason: 'Full' }
      const again = unwrap(await scene.service.initiateHandoff({ ...worked, ...restart })).handoff
      const { store } = scene
      const opus = scene.name('opus')
      const both = [taken.handoff, again]
      assert.deepEqual((await store.handoffs.list({ agent: opus }, {})).items, both)
      assert.deepEqual(
        (await store.handoffs.list({ agent: opus, order: 'newest_first' }, {})).items,
        [...both].reverse(),
      )
      assert.deepEqual(await collect(scene.history.eachHandoff({ agent: ` ${opus} ` }, { limit: 1 })), idsOf(both))
      assert.deepEqual((await store.handoffs.list({ sourceAgent: opus }, {})).items, [again])
      assert.deepEqual((await store.handoffs.list({ targetAgent: opus }, {})).items, both)
      assert.deepEqual((await store.handoffs.list({ agent: opus, kind: 'agent_transfer' }, {})).items, [taken.handoff])
      assert.deepEqual((await store.handoffs.list({ agent: scene.name('nobody') }, {})).items, [])
    },
    'finds handoffs by kind, status, time and conversation, in any combination': async (scene) => {
      const [first, second, third] = (await initiatedApart(scene, 3)) as [
        HandoffMetadata,
        HandoffMetadata,
        HandoffMetadata,
      ]
      unwrap(await scene.service.cancelHandoff({ handoff: second, reason: 'Not needed' }))
      assert.deepEqual(await found(scene, { status: 'cancelled' }), [second.id])
      assert.deepEqual(await found(scene, { status: 'initiated' }), [first.id, third.id])
      assert.deepEqual(await found(scene, { isOpen: true }), [first.id, third.id])
      assert.deepEqual(await found(scene, { kind: 'thread' }), [])
      assert.deepEqual(await found(scene, { kind: 'agent_transfer' }), idsOf([first, second, third]))
      assert.deepEqual(await found(scene, { conversationId: third.conversationId }), [third.id])
      const { initiatedAt: from } = second
      assert.deepEqual(await found(scene, { initiatedFrom: from }), [second.id, third.id])
      assert.deepEqual(await found(scene, { initiatedBefore: from }), [first.id])
      const between = { initiatedFrom: first.initiatedAt, initiatedBefore: third.initiatedAt }
      assert.deepEqual(await found(scene, { ...between, status: 'initiated' }), [first.id])
    },
    'finds handoffs by words of their reason': async (scene) => {
      const reason = 'The Login-Test fails on Mondays; see src/login/session.ts (Über-Nacht, McCoy, 漢字)'
      const { handoff } = await scene.initiated({ reason })
      const other = (await scene.initiated({ reason: `${'x'.repeat(9_000)} nul\u0000and \ud800 half \uf8ff` })).handoff
      const withReason = async (text: string) => found(scene, { reason: text })
      for (const text of [
        'login',
        'MONDAYS login',
        'session.ts',
        'login-test',
        'src/login',
        'über',
        'ÜBER',
        'mccoy',
        '漢字',
      ]) {
        assert.deepEqual(await withReason(text), [handoff.id], text)
      }
      for (const text of ['log', 'login tuesdays', 'monday', '', ' — ', '%', "'"]) {
        assert.deepEqual(await withReason(text), [], text)
      }
      for (const text of ['nul and', 'half', 'x'.repeat(9_000), 'nul\u0000and']) {
        assert.deepEqual(await withReason(text), [other.id], text.slice(0, 20))
      }
    },
    'finds open handoffs, and those that are overdue by its own clock': async (scene) => {
      const { store, ids } = scene
      const servedAt = (time: string) => new HandoffService({ store, ids, clock: new FixedClock(time) })
      const initiate = async (service: HandoffService) =>
        unwrap(
          await service.initiateHandoff({
            ...(await scene.worked('read_file')),
            targetAgent: scene.name('opus'),
            reason: 'Full',
          }),
        ).handoff
      const day = 86_400_000
      const now = Date.now()
      const ahead = await initiate(servedAt(new Date(now + day).toISOString()))
      const behind = await initiate(servedAt(new Date(now - day).toISOString()))
      const claimed = await initiate(scene.service)
      const lapsing = await initiate(servedAt('2999-01-01'))
      unwrap(await scene.service.acceptHandoff({ handoff: claimed, claimant: 'worker' }))
      unwrap(await scene.service.acceptHandoff({ handoff: lapsing, claimant: 'worker', claimMs: SHORT_CLAIM_MS }))
      assert.deepEqual(new Set(await found(scene, { isOpen: true })), new Set(idsOf([ahead, behind, claimed, lapsing])))
      await scene.passTime(SHORT_CLAIM_MS + 50)
      assert.deepEqual(await found(scene, { overdue: {} }), [lapsing.id])
      assert.deepEqual(await found(scene, { overdue: { unclaimedForMs: 3_600_000 } }), [lapsing.id])
      const overdue = { overdue: { unclaimedForMs: SHORT_CLAIM_MS } }
      assert.deepEqual(await found(scene, overdue), idsOf([ahead, behind, lapsing]))
      assert.deepEqual(await found(scene, { ...overdue, order: 'newest_first' }), idsOf([lapsing, behind, ahead]))
      const mine = { ...overdue, targetAgent: scene.name('opus') }
      assert.deepEqual(await collect(scene.history.eachHandoff(mine, { limit: 1 })), idsOf([ahead, behind, lapsing]))
      unwrap(await scene.service.completeHandoff({ handoff: ahead }))
      assert.deepEqual(await found(scene, overdue), idsOf([behind, lapsing]))
    },
    'lists conversations by age, subject and place in the line': async (scene) => {
      const subject = scene.name('tenant')
      const open = async (originalTask: string, parentId?: ConversationId) => {
        scene.clock.advance(1_000)
        const request = { originalTask, subject, ...(parentId && { parentId }) }
        return unwrap(await scene.service.openConversation(request)).conversation
      }
      const root = await open('The work')
      const child = await open('A side question', root.id)
      const last = await open('More work')
      const { conversations } = scene.store
      assert.deepEqual((await conversations.list({ subject }, {})).items, [root, child, last])
      assert.deepEqual((await conversations.list({ subject, isRoot: true }, {})).items, [root, last])
      const newest = await conversations.list({ subject, order: 'newest_first' }, { limit: 2 })
      assert.deepEqual(newest.items, [last, child])
      assert.ok(newest.next)
      const rest = await conversations.list({ subject, order: 'newest_first' }, { after: newest.next })
      assert.deepEqual(rest, { items: [root] })
      assert.deepEqual(
        await collect(scene.history.eachConversation({ subject }, { limit: 1 })),
        idsOf([root, child, last]),
      )
    },
    'lists sessions across conversations by agent and state': async (scene) => {
      const agentName = scene.name('claude-code')
      const first = (await scene.session()).session
      scene.clock.advance(1_000)
      const second = unwrap(await scene.service.completeSession(await scene.session())).session
      const { sessions } = scene.store
      assert.deepEqual((await sessions.list({ agentName }, {})).items, [first, second])
      assert.deepEqual((await sessions.list({ agentName, order: 'newest_first' }, {})).items, [second, first])
      assert.deepEqual((await sessions.list({ agentName, state: 'active' }, {})).items, [first])
      const { conversationId: conversation } = second
      assert.deepEqual((await sessions.list({ conversationId: conversation }, {})).items, [second])
      assert.deepEqual(await collect(scene.history.eachSession({ agentName }, { limit: 1 })), idsOf([first, second]))
    },
  },
}

export const idSearchContract: ContractPart = {
  about: 'ids in part',
  cases: {
    'finds the ids of one kind that end alike, newest first, and no more than asked for': async (scene) => {
      const { ids } = scene.store
      const { handoff } = await scene.initiated()
      const { handoff: later } = await scene.initiated()
      const idsByKind = {
        conversation: handoff.conversationId,
        session: handoff.sourceSessionId,
        handoff: handoff.id,
        turn: handoff.priorTurnId,
      }
      for (const kind of ID_KINDS) {
        const id = idsByKind[kind]
        for (const length of [36, 35, 32]) assert.deepEqual(await ids.ending(kind, id.slice(-length), 10), [id])
        for (const other of ID_KINDS)
          if (other !== kind) assert.deepEqual(await ids.ending(other, id.slice(-32), 10), [])
      }
      // Other histories in this store may have ids that end alike.
      const end = handoff.id.slice(-12)
      const found = await ids.ending('handoff', end, 1_000)
      assert.ok(found.includes(handoff.id) && !found.includes(later.id))
      assert.deepEqual(
        found,
        [...new Set(found)]
          .filter((id) => id.endsWith(end))
          .sort()
          .reverse(),
      )
      assert.deepEqual(await ids.ending('handoff', end, 1), found.slice(0, 1))
      assert.deepEqual(await ids.ending('handoff', `${end}'%`, 10), [])
    },
  },
}
