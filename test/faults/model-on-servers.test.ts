import { afterAll, expect, it } from 'vitest'
import { modelAgrees } from '../model/model-agrees.ts'
import { closeStores, openStore, STORE_KINDS } from '../support/stores.ts'

afterAll(closeStores)

const SERVERS = STORE_KINDS.filter((kind) => kind !== 'memory')

it.each(SERVERS)(
  'random sequences of commands on %s agree with the plain model and with their audit log',
  async (kind) => {
    const tallies = await modelAgrees(() => openStore(kind), { runs: 25, commands: 40, realClock: true })
    const taken = [...tallies.values()].reduce((sum, { allowed, refused }) => sum + allowed + refused, 0)
    expect(taken).toBeGreaterThan(250)
  },
)
