import { afterAll, describe, it } from 'vitest'
import type { CommitOutcome, Store, Unit } from '../../src/entry/ports.ts'
import { commandsContract } from '../../src/testing/contract/commands-contract.ts'
import { linksContract } from '../../src/testing/contract/links-contract.ts'
import { unitsContract } from '../../src/testing/contract/units-contract.ts'
import { Scene } from '../../src/testing/scene.ts'
import { withUnitOfWork } from '../faulty-stores/wrap.ts'
import { Stage } from './stage.ts'

let stage: Promise<Stage> | undefined

/** A store that keeps each decision in a transaction of somebody else. */
const inTransactions = async (): Promise<Store> => {
  stage ??= Stage.open()
  const { store, pool } = await stage
  const commit = async (unit: Unit): Promise<CommitOutcome> => {
    const client = await pool.connect()
    try {
      await client.query('begin')
      const outcome = await store.within?.(client).unitOfWork.commit(unit)
      await client.query('commit')
      if (outcome === undefined) throw new Error('The store has no transactions')
      return outcome
    } catch (error) {
      await client.query('rollback')
      throw error
    } finally {
      client.release()
    }
  }
  return withUnitOfWork(store, { commit })
}

afterAll(async () => (await stage)?.[Symbol.asyncDispose]())

/** The parts of the contract that are about keeping a decision: reading is the same statement anywhere. */
describe.each([unitsContract, linksContract, commandsContract])(
  'in a transaction of the caller: $about',
  ({ cases }) => {
    it.each(Object.entries(cases))('%s', async (_, run) => {
      const passTime = (milliseconds: number): Promise<void> => new Promise((go) => setTimeout(go, milliseconds))
      await run(new Scene({ store: await inTransactions(), passTime }))
    })
  },
)
