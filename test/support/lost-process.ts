import type { Store } from '../../src/ports/store/store.ts'
import type { Unit } from '../../src/ports/store/unit-of-work.ts'

/** Whether a commit, the first being number 1, is the last one that a process lives to see. */
export type IsLast = (unit: Unit, number: number) => boolean

/** What a process that is to be lost works with, and when it is lost. */
export interface LostProcess {
  readonly store: Store
  /** Comes when it has asked for something that it will never get. */
  readonly lost: Promise<void>
}

/**
 * The store of a process that is lost after a commit: whatever it asks after that is never answered, as if it had been
 * killed. One that `stillReads` goes on until it wants to write. It never says that it lives, so that its lease expires.
 */
export const lostProcess = (
  store: Store,
  isLast: IsLast,
  { stillReads = false }: { readonly stillReads?: boolean } = {},
): LostProcess => {
  let lose = (): void => undefined
  const lost = new Promise<void>((resolve) => {
    lose = resolve
  })
  const never = new Promise<never>(() => undefined)
  let commits = 0
  let isLost = false
  const alive = <T>(ask: () => T): T | Promise<never> => {
    if (!isLost) return ask()
    lose()
    return never
  }
  const commit = async (unit: Unit) => {
    commits += 1
    const committed = await store.unitOfWork.commit(unit)
    isLost = isLast(unit, commits)
    return committed
  }
  const portOf = <Port extends object>(port: Port): Port =>
    new Proxy(port, {
      get: (_, name) => {
        const value: unknown = Reflect.get(port, name, port)
        return typeof value === 'function' ? (...args: unknown[]) => alive(() => value.apply(port, args)) : value
      },
    })
  const reads = stillReads ? <Port extends object>(port: Port): Port => port : portOf
  return {
    lost,
    store: {
      unitOfWork: {
        load: (question, command) => alive(() => store.unitOfWork.load(question, command)),
        commit: (unit) => alive(() => commit(unit)),
        estimateNow: () => store.unitOfWork.estimateNow(),
      },
      conversations: reads(store.conversations),
      sessions: reads(store.sessions),
      handoffs: reads(store.handoffs),
      snapshots: reads(store.snapshots),
      messages: reads(store.messages),
      audit: reads(store.audit),
      monitors: reads(store.monitors),
      signals: reads(store.signals),
      leases: { ...store.leases, renew: async () => true },
      commands: reads(store.commands),
      ids: reads(store.ids),
      lookBacks: reads(store.lookBacks),
      threadSummaries: reads(store.threadSummaries),
      [Symbol.asyncDispose]: async () => undefined,
    },
  }
}
