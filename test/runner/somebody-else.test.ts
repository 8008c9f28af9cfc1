import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { describeRefusal, isOvertaken, type Refusal, type RefusalCode } from '../../src/domain/refusal.ts'
import { RefusedError, unwrap } from '../../src/domain/unwrap.ts'
import { systemClock, uuidV7Ids } from '../../src/entry/container.ts'
import { type Batonpass, createBatonpass } from '../../src/entry/index.ts'
import { MemoryStore } from '../../src/entry/memory.ts'
import { outsideHandoffAfter, unlessTakenOver } from '../../src/services/run/lease.ts'
import { recoverAll } from '../../src/services/run/recover/recovery.ts'
import { SupersededError } from '../../src/services/run/run-errors.ts'
import { RunThreads } from '../../src/services/run/threads/run-threads.ts'
import { TurnExtender } from '../../src/services/run/work/turn-extender.ts'
import { EVERY_REFUSAL } from '../domain/every-refusal.ts'
import { HANDOFF } from '../domain/samples.ts'

/** Every refusal that a run may meet, with what the five places that ask "does somebody else have it?" make of it. */
const REFUSALS = Object.values<Refusal>(EVERY_REFUSAL).map((refusal) => ({
  code: refusal.code,
  refusal,
  overtaken: isOvertaken(refusal),
}))
const held = { supersededError: () => new SupersededError('Somebody else has it.') }
const refusing = (refusal: Refusal) => async () => ({ ok: false as const, error: refusal })
const codesWhere = async (isSo: (refusal: Refusal) => boolean | Promise<boolean>): Promise<readonly RefusalCode[]> => {
  const found: RefusalCode[] = []
  for (const { code, refusal } of REFUSALS) if (await isSo(refusal)) found.push(code)
  return found
}
const OVERTAKEN = REFUSALS.filter(({ overtaken }) => overtaken).map(({ code }) => code)

describe('a run whose command was refused because somebody else has the session', () => {
  it('stops as superseded when the command was about held work, for every such code and no other', async () => {
    const stops = await codesWhere((refusal) => {
      try {
        unlessTakenOver({ held } as never, { ok: false, error: refusal })
        return false
      } catch (error) {
        return error instanceof SupersededError
      }
    })
    expect(stops).toStrictEqual(OVERTAKEN)
  })

  it('stops as superseded when it adds to the turn of a handoff, for every such code and no other', async () => {
    const stops = await codesWhere(async (refusal) => {
      const deps = { handoffs: { extendTurn: refusing(refusal) } }
      const retryThroughOutage = (command: (named: object) => unknown) => command({})
      const extender = new TurnExtender({ deps, held, retryThroughOutage } as never)
      const added = extender.add({ id: HANDOFF } as never, [{ role: 'assistant', text: 'Done.' }])
      const thrown: unknown = await added.then(
        () => undefined,
        (error: unknown) => error,
      )
      if (thrown instanceof SupersededError) return true
      expect(thrown).toMatchObject({ code: refusal.code })
      return false
    })
    expect(stops).toStrictEqual(OVERTAKEN)
  })

  it('looks whether its session was handed on from outside, for every such code and no other', async () => {
    const looks = await codesWhere(async (refusal) => {
      let reads = 0
      const session = async (): Promise<void> => {
        reads += 1
      }
      const history = { session }
      const retryThroughOutage = (read: () => unknown) => read()
      const run = { deps: { history }, held: { session: { id: 'any' } }, retryThroughOutage }
      expect(await outsideHandoffAfter(run as never, refusal)).toBeUndefined()
      return reads > 0
    })
    expect(looks).toStrictEqual(OVERTAKEN)
  })

  it('has its thread elsewhere, for every such code and no other', async () => {
    const logged: string[] = []
    const logger = { debug: () => logged.push('debug'), warn: () => logged.push('warn') }
    const elsewhere = await codesWhere(async (refusal) => {
      const terms = { deps: { logger }, agents: { names: ['coder'], isCast: true } }
      const runThread = () => Promise.reject(new RefusedError(refusal))
      const threads = new RunThreads({ terms, runThread, signal: new AbortController().signal } as never)
      threads.start({ handoff: { id: HANDOFF }, session: { agentName: 'coder' } } as never)
      await threads.rest()
      const isElsewhere = threads.stopped().size === 0
      // A thread that this process gives up is counted as ended, and its reason is the sentence of the refusal.
      if (!isElsewhere) expect([...threads.stopped().values()]).toStrictEqual([describeRefusal(refusal)])
      expect(threads.ends).toBe(isElsewhere ? 0 : 1)
      expect(logged.pop()).toBe(isElsewhere ? 'debug' : 'warn')
      return isElsewhere
    })
    expect(elsewhere).toStrictEqual(OVERTAKEN)
  })
})

describe('recovering a session that somebody else has by now', () => {
  let store: MemoryStore
  let batonpass: Batonpass
  beforeEach(async () => {
    store = new MemoryStore({ clock: systemClock })
    batonpass = await createBatonpass({ store })
  })
  afterEach(() => batonpass.close())

  it('says that it is taken, for every such code and no other, and leaves the session as it is', async () => {
    const { handoffs, history } = batonpass
    const { conversation } = unwrap(await handoffs.openConversation({ originalTask: 'Review the parser' }))
    const { session } = unwrap(
      await handoffs.startSession({
        conversationId: conversation.id,
        agentName: 'coder',
        backend: 'scripted',
        leaseMs: 1,
      }),
    )
    await new Promise((resolve) => setTimeout(resolve, 5))
    const deps = { store, handoffs, history, ids: uuidV7Ids }
    const runtimes = [{ backend: 'scripted' }] as never
    const taken = await codesWhere(async (refusal) => {
      const outcomes = await recoverAll(deps as never, { runtimes }, () => Promise.reject(new RefusedError(refusal)))
      expect(outcomes).toMatchObject([{ sessionId: session.id, type: isOvertaken(refusal) ? 'taken' : 'unfinished' }])
      return outcomes[0]?.type === 'taken'
    })
    expect(taken).toStrictEqual(OVERTAKEN)
    expect(await history.session(session.id)).toStrictEqual(session)
  })
})
