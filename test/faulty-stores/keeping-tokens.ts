import { agentSessionId, type HolderToken } from '../../src/entry/index.ts'
import type { Receipt, Store, UnitOfWork } from '../../src/entry/ports.ts'
import { withParts, withUnitOfWork } from './wrap.ts'

/** The token that a unit shows, if it shows one. */
const tokenIn = (unit: Parameters<UnitOfWork['commit']>[0]): HolderToken | undefined => {
  for (const change of unit.changes)
    if ('expected' in change && typeof change.expected === 'object' && 'token' in change.expected)
      return change.expected.token
  return undefined
}

/** Puts the token into the receipt, so that a repeated command is answered with it. */
export const keepingTokensInReceipts = (store: Store): Store =>
  withUnitOfWork(store, {
    commit: (unit) => {
      const holder = tokenIn(unit)
      const receipt = unit.receipt && ({ ...unit.receipt, ...(holder && { holder }) } as Receipt)
      return store.unitOfWork.commit({ ...unit, ...(receipt && { receipt }) })
    },
  })

/** Keeps the token that it was shown instead of its digest. */
export const keepingTokensRaw = (store: Store): Store => {
  const tokens = new Map<string, HolderToken>()
  const { unitOfWork } = store
  const load: UnitOfWork['load'] = async (question, command) => {
    const loaded = await unitOfWork.load(question, command)
    const { working } = ('facts' in loaded ? loaded.facts : {}) as { working?: { session: { id: string } } }
    const token = working && tokens.get(agentSessionId(working.session.id))
    return token === undefined
      ? loaded
      : ({ facts: { ...(loaded as { facts: object }).facts, working: { ...working, holder: token } } } as typeof loaded)
  }
  return withParts(store, {
    unitOfWork: {
      load,
      estimateNow: () => unitOfWork.estimateNow(),
      commit: (unit) => {
        const token = tokenIn(unit)
        for (const change of unit.changes)
          if (change.type === 'move_session' && token !== undefined) tokens.set(change.working.session.id, token)
        return unitOfWork.commit(unit)
      },
    },
  })
}

/** Takes the digest, which everybody can read, for the token: it compares what it was shown with what it keeps. */
export const takingDigestsForTokens = (store: Store): Store => {
  const { unitOfWork } = store
  return withUnitOfWork(store, {
    commit: (unit) => {
      const changes = unit.changes.map((change) => {
        if (change.type !== 'expect_session' && change.type !== 'move_session') return change
        const { token, ...read } = change.expected
        return (token as string | undefined) === read.holder ? { ...change, expected: read } : change
      })
      return unitOfWork.commit({ ...unit, changes: changes as typeof unit.changes })
    },
  })
}
