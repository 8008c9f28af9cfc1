import assert from 'node:assert/strict'
import { agentSessionId, commandId, handoffId } from '../../domain/kernel/ids.ts'
import { unwrap } from '../../domain/unwrap.ts'
import { HandoffService } from '../../services/handoff-service.ts'
import { refusal } from '../expected-refusal.ts'
import { FixedClock } from '../fixed-clock.ts'
import type { ContractPart } from '../store-contract.ts'
import { assertIntact } from './trail.ts'

/** Long enough for a slow store to answer within it, short enough to wait for. */
const SHORT_CLAIM_MS = 400

export const handoffsContract: ContractPart = {
  about: 'handoffs',
  cases: {
    'reads back exactly what was initiated, tool calls included and in order': async (scene) => {
      const { handoff, source } = await scene.initiated({
        document: 'What I know so far',
        flags: ['minimal_continuation'],
        traceContext: { traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01', tracestate: 'a=b' },
      })
      const stored = await scene.store.handoffs.find(handoff.id)
      assert.deepEqual(stored, handoff)
      assert.deepEqual(stored?.triggeringToolCalls, source.turns[0]?.toolCalls)
      assert.deepEqual(
        stored?.triggeringToolCalls.map(({ toolName }) => toolName),
        ['read_file', 'run_tests'],
      )
      assert.equal(stored?.priorTurnId, source.turns[0]?.id)
    },
    'names tool calls in the order they were made, whatever the order they are asked in': async (scene) => {
      const source = await scene.worked('read_file', 'run_tests')
      const calls = source.turns[0]?.toolCalls ?? []
      const toolCalls = calls.map(({ callId }) => callId).reverse()
      const request = {
        ...source,
        targetAgent: scene.name('opus'),
        reason: 'full',
        toolCalls: [...toolCalls, ...toolCalls],
      }
      const { handoff } = unwrap(await scene.service.initiateHandoff(request))
      assert.deepEqual((await scene.store.handoffs.find(handoff.id))?.triggeringToolCalls, calls)
    },
    'answers undefined for what is not there': async (scene) => {
      assert.equal(await scene.store.handoffs.find(handoffId(scene.ids.next())), undefined)
      assert.equal(await scene.store.handoffs.findOpenFor(agentSessionId(scene.ids.next())), undefined)
    },
    'reads back each status with its facts': async (scene) => {
      const accepted = unwrap(await scene.service.acceptHandoff({ ...(await scene.initiated()), claimant: 'worker' }))
      const completed = unwrap(await scene.service.completeHandoff(await scene.initiated()))
      const cancelled = unwrap(
        await scene.service.cancelHandoff({ ...(await scene.initiated()), reason: 'Not needed' }),
      )
      const failed = unwrap(await scene.service.failHandoff({ ...(await scene.initiated()), reason: 'No answer' }))
      for (const { handoff } of [accepted, completed, cancelled, failed]) {
        assert.deepEqual(await scene.store.handoffs.find(handoff.id), handoff)
      }
    },
    'finds the open handoff of a source until it ends': async (scene) => {
      const { handoff, source } = await scene.initiated()
      assert.deepEqual(await scene.store.handoffs.findOpenFor(source.session.id), handoff)
      unwrap(await scene.service.completeHandoff({ handoff }))
      assert.equal(await scene.store.handoffs.findOpenFor(source.session.id), undefined)
    },
    'hands a conversation over in one commit': async (scene) => {
      const { handoff, source } = await scene.initiated()
      const { session } = unwrap(await scene.service.completeHandoff({ handoff }))
      const left = await scene.store.sessions.find(source.session.id)
      assert.equal(left?.state, 'handed_off')
      assert.deepEqual(await scene.store.sessions.findActive(handoff.conversationId), session)
      assert.equal(session.initiatedByHandoff, handoff.id)
      assert.equal(session.startSequence, (left?.state === 'handed_off' ? (left.endSequence ?? 0) : 0) + 1)
    },
    'completes on what accepting answered with, wherever the epochs have come to': async (scene) => {
      const first = await scene.worked('read_file')
      unwrap(await scene.service.pauseSession(first))
      const { conversationId } = first.session
      const other = { conversationId, agentName: scene.name('other'), backend: 'scripted' }
      unwrap(await scene.service.completeSession(unwrap(await scene.service.startSession(other))))
      const resumed = unwrap(await scene.service.resumeSession(first))
      const details = { targetAgent: scene.name('opus'), reason: 'full' }
      const { handoff } = unwrap(await scene.service.initiateHandoff({ ...first, ...resumed, ...details }))
      const accepted = unwrap(await scene.service.acceptHandoff({ handoff, claimant: 'worker' }))
      assert.deepEqual(accepted.session, await scene.store.sessions.find(first.session.id))
      const done = unwrap(await scene.service.completeHandoff({ ...accepted, claimant: 'worker' }))
      assert.equal(done.session.epoch, 3)
      assert.deepEqual(await scene.store.sessions.findActive(conversationId), done.session)
      assert.deepEqual(await scene.store.handoffs.find(handoff.id), done.handoff)
    },
    'lists what an agent may claim, oldest first, and nothing that is claimed or over': async (scene) => {
      const targetAgent = scene.name('reviewer')
      const [first, second, third] = [
        (await scene.initiated({ targetAgent })).handoff,
        (await scene.initiated({ targetAgent })).handoff,
        (await scene.initiated({ targetAgent })).handoff,
      ]
      unwrap(await scene.service.acceptHandoff({ handoff: second, claimant: 'worker' }))
      const pending = async () => (await scene.store.handoffs.listPendingFor(targetAgent, {})).items.map(({ id }) => id)
      assert.deepEqual(await pending(), [first.id, third.id])
      unwrap(await scene.service.cancelHandoff({ handoff: first, reason: 'Not needed' }))
      assert.deepEqual(await pending(), [third.id])
    },
    'lets a claim lapse by its own clock': async (scene) => {
      const { handoff } = await scene.initiated()
      unwrap(await scene.service.acceptHandoff({ handoff, claimant: 'first', claimMs: SHORT_CLAIM_MS }))
      const early = await scene.service.acceptHandoff({ handoff, claimant: 'second' })
      const refused = refusal(early)
      assert.equal(refused.code === 'handoff.already_claimed' && refused.claimant, 'first')
      await scene.passTime(SHORT_CLAIM_MS + 50)
      assert.deepEqual(
        (await scene.store.handoffs.listPendingFor(handoff.targetAgent, {})).items.map(({ id }) => id),
        [handoff.id],
      )
      unwrap(await scene.service.acceptHandoff({ handoff, claimant: 'second' }))
      const late = await scene.service.completeHandoff({ handoff, claimant: 'first' })
      assert.equal(refusal(late).code, 'handoff.not_claimant')
      unwrap(await scene.service.completeHandoff({ handoff, claimant: 'second' }))
    },
    'gives each pending handoff to one worker': async (scene) => {
      const targetAgent = scene.name('reviewer')
      const initiated = new Set<string>()
      for (let count = 0; count < 12; count += 1) initiated.add((await scene.initiated({ targetAgent })).handoff.id)
      const work = async (claimant: string): Promise<string[]> => {
        const taken: string[] = []
        for (;;) {
          const { handoff } = unwrap(await scene.service.claimNext({ targetAgent, claimant }))
          if (handoff === undefined) return taken
          taken.push(handoff.id)
        }
      }
      const taken = (await Promise.all(['a', 'b', 'c', 'd'].map(work))).flat()
      assert.equal(taken.length, 12)
      assert.deepEqual(new Set(taken), initiated)
    },
    'serves what waits in the order it came in, whatever the clocks of clients say': async (scene) => {
      const { store, ids } = scene
      const targetAgent = scene.name('reviewer')
      const made: string[] = []
      for (const apart of [86_400_000, 0, -86_400_000]) {
        const clock = new FixedClock(new Date(Date.now() + apart).toISOString())
        const service = new HandoffService({ store, ids, clock })
        const source = await scene.worked('read_file')
        made.push(unwrap(await service.initiateHandoff({ ...source, targetAgent, reason: 'Full' })).handoff.id)
        await scene.passTime(2)
      }
      const pending: string[] = []
      for (let after: string | undefined; ; ) {
        const page = await store.handoffs.listPendingFor(targetAgent, {
          limit: 1,
          ...(after !== undefined && { after }),
        })
        pending.push(...page.items.map(({ id }) => id))
        after = page.next
        if (after === undefined || pending.length > made.length) break
      }
      assert.deepEqual(pending, made)
      const served: (string | undefined)[] = []
      for (const _ of made)
        served.push(unwrap(await scene.service.claimNext({ targetAgent, claimant: 'worker' })).handoff?.id)
      assert.deepEqual(served, made)
    },
    'offers the oldest that nobody holds, or one of so many of the oldest, another to another command': async (
      scene,
    ) => {
      const targetAgent = scene.name('reviewer')
      const made: string[] = []
      for (let count = 0; count < 6; count += 1) {
        made.push((await scene.initiated({ targetAgent })).handoff.id)
        scene.clock.advance(1_000)
      }
      const offered = async (among?: number): Promise<string | undefined> => {
        const command = { id: commandId(scene.ids.next()), payload: 'claim_next' }
        const loaded = await scene.store.unitOfWork.load(
          { about: 'next_handoff', targetAgent, ...(among !== undefined && { among }) },
          command,
        )
        return loaded.repeated === undefined ? loaded.facts.handoff?.id : undefined
      }
      const claim = async (id: string | undefined, claimMs: number) =>
        unwrap(await scene.service.acceptHandoff({ handoff: handoffId(id ?? ''), claimant: 'first', claimMs }))
      await claim(made[2], 60_000)
      await claim(made[0], SHORT_CLAIM_MS)
      assert.equal(await offered(), made[1])
      await scene.passTime(SHORT_CLAIM_MS + 50)
      assert.equal(await offered(), made[0])
      const some = new Set<string | undefined>()
      for (let count = 0; count < 40; count += 1) some.add(await offered(3))
      assert.deepEqual([...some].sort(), [made[0], made[1], made[3]].sort())
      for (const id of [0, 1, 3, 4, 5]) await claim(made[id], 60_000)
      assert.equal(await offered(100), undefined)
    },
    'lets one of several racing claimants win': async (scene) => {
      const { handoff } = await scene.initiated()
      const claimants = Array.from({ length: 8 }, (_, index) => `worker-${index}`)
      const claims = await Promise.all(claimants.map((claimant) => scene.service.acceptHandoff({ handoff, claimant })))
      const winners = claims.flatMap((claim) => (claim.ok ? [claim.value.handoff] : []))
      assert.equal(winners.length, 1)
      assert.deepEqual(await scene.store.handoffs.find(handoff.id), winners[0])
    },
    'lists the handoffs of a conversation oldest first, page by page': async (scene) => {
      const { handoff, source } = await scene.initiated()
      const made = [handoff.id]
      unwrap(await scene.service.cancelHandoff({ handoff, reason: 'Not yet' }))
      for (let count = 0; count < 2; count += 1) {
        scene.clock.advance(1_000)
        const request = { ...source, session: source.session.id, targetAgent: scene.name('opus'), reason: 'Again' }
        const next = unwrap(await scene.service.initiateHandoff(request)).handoff
        made.push(next.id)
        unwrap(await scene.service.cancelHandoff({ handoff: next, reason: 'Not yet' }))
      }
      const { handoffs } = scene.store
      const first = await handoffs.listForConversation(handoff.conversationId, { limit: 2 })
      assert.ok(first.next)
      const rest = await handoffs.listForConversation(handoff.conversationId, { limit: 2, after: first.next })
      assert.deepEqual(
        [...first.items, ...rest.items].map(({ id }) => id),
        made,
      )
      assert.equal(rest.next, undefined)
    },
    'gives the first session of a thread that nobody has launched to exactly one of five who ask at once': async (
      scene,
    ) => {
      const source = await scene.worked('read_file')
      const request = { targetAgent: source.session.agentName, reason: 'A side question' }
      const { session } = unwrap(await scene.service.openThread({ ...source, ...request }))
      const taking = { session: session.id, ifAbandoned: true, leaseMs: 60_000 } as const
      const answers = await Promise.all(Array.from({ length: 5 }, () => scene.service.takeOverSession(taking)))
      const [winner, ...others] = answers.flatMap((answer) => (answer.ok ? [answer.value] : []))
      assert.ok(winner !== undefined && others.length === 0)
      const codes = answers.flatMap((answer) => (answer.ok ? [] : [answer.error.code]))
      assert.deepEqual(codes, Array(4).fill('session.leased'))
      assert.deepEqual(await scene.store.sessions.find(session.id), winner.session)
      // Launched, it is somebody's, and is left to them like any other without a lease.
      const launched = unwrap(await scene.service.openThread({ ...source, ...request }))
      unwrap(await scene.service.attachSession({ ...launched, providerSessionId: scene.name('launched') }))
      const late = await scene.service.takeOverSession({ ...taking, session: launched.session.id })
      assert.equal(refusal(late).code, 'session.not_leased')
    },
    'opens a thread without changing its source': async (scene) => {
      const source = await scene.worked('read_file')
      const request = { targetAgent: source.session.agentName, reason: 'A side question', document: 'Look here' }
      const opened = unwrap(await scene.service.openThread({ ...source, ...request }))
      assert.deepEqual(await scene.store.sessions.find(source.session.id), source.session)
      assert.deepEqual(await scene.store.handoffs.find(opened.handoff.id), opened.handoff)
      assert.deepEqual(await scene.store.sessions.findActive(opened.conversation.id), opened.session)
      assert.deepEqual(await scene.store.conversations.find(opened.conversation.id), opened.conversation)
      assert.equal(await scene.store.handoffs.findOpenFor(source.session.id), undefined)
    },
  },
}

export const renewalsContract: ContractPart = {
  about: 'claims last as long as their claimants need',
  cases: {
    'renews a claim from now on, for its claimant alone': async (scene) => {
      const { service, store } = scene
      const { handoff } = await scene.initiated()
      unwrap(await service.acceptHandoff({ handoff, claimant: 'worker', claimMs: 400 }))
      const other = await service.renewClaim({ handoff: handoff.id, claimant: 'other' })
      assert.equal(refusal(other).code, 'handoff.not_claimant')
      const renewed = unwrap(await service.renewClaim({ handoff: handoff.id, claimant: 'worker', claimMs: 600_000 }))
      assert.deepEqual(await store.handoffs.find(handoff.id), renewed.handoff)
      await scene.passTime(450)
      const late = await service.acceptHandoff({ handoff: handoff.id, claimant: 'other' })
      assert.equal(refusal(late).code, 'handoff.already_claimed')
      unwrap(await service.completeHandoff({ ...renewed, claimant: 'worker' }))
      const over = await service.renewClaim({ handoff: handoff.id, claimant: 'worker' })
      assert.equal(refusal(over).code, 'handoff.illegal_transition')
      await assertIntact(scene, handoff.conversationId)
    },
    'renews a claim that ran out, while nobody else has claimed': async (scene) => {
      const { service } = scene
      const { handoff } = await scene.initiated()
      unwrap(await service.acceptHandoff({ handoff, claimant: 'worker', claimMs: 50 }))
      await scene.passTime(100)
      unwrap(await service.renewClaim({ handoff: handoff.id, claimant: 'worker', claimMs: 50 }))
      await scene.passTime(100)
      unwrap(await service.acceptHandoff({ handoff: handoff.id, claimant: 'other' }))
      const lost = await service.renewClaim({ handoff: handoff.id, claimant: 'worker' })
      assert.equal(refusal(lost).code, 'handoff.not_claimant')
    },
    'lets a claimant take its time before it prepares': async (scene) => {
      const { handoff, source } = await scene.initiated()
      const accepted = unwrap(await scene.service.acceptHandoff({ handoff, claimant: 'worker' }))
      // Longer than a claim may be away from the clock of the store when it begins.
      await scene.passTime(2_200)
      const targetSessionId = agentSessionId(scene.ids.next())
      const wanted = { claimant: 'worker', continuation: 'Begin here', targetSessionId, holder: source.holder }
      const prepared = unwrap(await scene.service.prepareHandoff({ ...accepted, ...wanted }))
      assert.deepEqual(await scene.store.handoffs.find(handoff.id), prepared.handoff)
    },
  },
}
