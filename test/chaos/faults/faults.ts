import { startPooler } from '../../support/pooler.ts'
import { type Cut, TcpProxy } from '../../support/tcp-proxy.ts'
import { directGround, type Fault, TIMEOUTS, wait } from './fault.ts'
import { fullDisk } from './full-disk.ts'
import { terminateAll } from './terminate.ts'

const CUTS: readonly Cut[] = ['before', 'half', 'last_byte']

/** No fault at all: twenty processes at once, to compare with. */
const calm: Fault = {
  name: 'calm',
  weight: 1,
  least: { faults: 0, acknowledged: 300 },
  prepare: (server) =>
    directGround(server, 'calm', async () => {
      await wait(500)
      return 0
    }),
}

/** Workers are killed in the middle of whatever they do; others take their places. */
const kill: Fault = {
  name: 'kill',
  weight: 2,
  least: { faults: 20, acknowledged: 200 },
  prepare: (server) =>
    directGround(server, 'kill', async (_, crew, chance) => {
      await wait(200 + chance.below(800))
      return crew.kill(chance)
    }),
}

/** The server crashes, with whatever it was doing, and comes back. */
const restart: Fault = {
  name: 'restart',
  weight: 2,
  least: { faults: 3, acknowledged: 200 },
  prepare: (server) =>
    directGround(server, 'restart', async (_, __, chance) => {
      await wait(2_000 + chance.below(6_000))
      await server.crash(chance.happens(0.3) ? 1_000 + chance.below(3_000) : 0)
      return 1
    }),
}

/** Connections are ended by the server, all at once, again and again. */
const terminate: Fault = {
  name: 'terminate',
  weight: 2,
  least: { faults: 200, acknowledged: 100 },
  prepare: (server) =>
    directGround(server, 'terminate', async (url, _, chance) => {
      await wait(chance.happens(0.7) ? chance.below(200) : 500 + chance.below(2_000))
      return terminateAll(url)
    }),
}

/** Through PgBouncer in transaction mode, while the server ends its connections and workers are killed. */
const pooler: Fault = {
  name: 'pooler',
  weight: 2,
  least: { faults: 30, acknowledged: 200 },
  prepare: async (server) => {
    const direct = await server.database('pooler')
    const before = await startPooler(direct)
    if (before === undefined) return { notRun: 'PgBouncer is not installed' }
    return {
      store: { connectionString: before.url, pooled: true, ...TIMEOUTS },
      direct,
      inject: async (crew, chance) => {
        await wait(500 + chance.below(1_500))
        return chance.happens(0.5) ? terminateAll(direct) : crew.kill(chance)
      },
      heal: async () => {},
      [Symbol.asyncDispose]: () => before.stop(),
    }
  },
}

/** Lines that go dead without a word, and answers that are cut off after the commit. */
const halfOpen: Fault = {
  name: 'half-open',
  weight: 2,
  least: { faults: 10, acknowledged: 200 },
  prepare: async (server) => {
    const direct = await server.database('half_open')
    const line = await TcpProxy.before(direct)
    const timeouts = { connectTimeoutMs: 1_000, statementTimeoutMs: 1_000, queryTimeoutMs: 1_500, maxConnections: 2 }
    return {
      store: { connectionString: line.url, ...timeouts },
      direct,
      inject: async (_, chance) => {
        await wait(1_000 + chance.below(3_000))
        if (chance.happens(0.7)) {
          const cut = line.cuts
          line.cutAfterCommit(...Array.from({ length: 8 }, () => chance.one(CUTS) ?? 'before'))
          await wait(1_000)
          return line.cuts - cut
        }
        const dead = line.connections
        line.mode = 'silent'
        // Longer than anyone waits for an answer: nobody ever hears the rest of a message whose beginning was lost.
        await wait(3_000)
        line.mode = 'forward'
        return dead
      },
      heal: async () => {
        line.mode = 'forward'
      },
      [Symbol.asyncDispose]: () => line[Symbol.asyncDispose](),
    }
  },
}

/** Every fault, in the order they are tried. */
export const FAULTS: readonly Fault[] = [calm, kill, restart, terminate, pooler, fullDisk, halfOpen]
