import pg from 'pg'
import { openPostgres } from '../../src/adapters/postgres/open/open-postgres.ts'
import { systemClock } from '../../src/adapters/system/system-clock.ts'
import { uuidV7Ids } from '../../src/adapters/system/uuid-v7-ids.ts'
import { agentSessionId, commandId, handoffId, holderToken } from '../../src/domain/kernel/ids.ts'
import { unwrap } from '../../src/domain/unwrap.ts'
import { StoreFailure } from '../../src/ports/store/store-failure.ts'
import { HandoffService } from '../../src/services/handoff-service.ts'
import { HandoffHistory } from '../../src/services/history/handoff-history.ts'

/** One way to move a handoff on, and by whom. */
export interface Settling {
  readonly handoff: string
  readonly command: 'accept' | 'cancel' | 'fail' | 'complete'
  readonly by?: string
}

/** What a process of its own can be asked to do. */
export interface Jobs {
  /** So many workers claim until nothing waits. */
  claimAll: {
    asks: { readonly targetAgent: string; readonly workers: number; readonly name: string }
    gives: readonly { readonly handoff: string; readonly claimant: string }[]
  }
  /** Moves handoffs on, all at once. */
  settle: { asks: readonly Settling[]; gives: readonly { readonly ok: boolean; readonly code?: string }[] }
  /** Records turns one after the other, each until it is kept. */
  record: {
    asks: {
      readonly session: string
      readonly holder: string
      readonly turns: number
      /** Several questions beside each turn, so that connections pass from hand to hand. */
      readonly isBusy?: boolean
    }
    gives: number
  }
}

/** How a worker reaches its server. */
export interface WorkerOptions {
  readonly connectionString: string
  readonly maxConnections?: number
  /** Through a pool of its own, which nobody listens to. */
  readonly ownPool?: boolean
}

const open = async ({ connectionString, maxConnections = 5, ownPool = false }: WorkerOptions) => {
  const pool = new pg.Pool({ connectionString, max: maxConnections, application_name: 'batonpass' })
  const store = await openPostgres(ownPool ? { pool } : { connectionString, maxConnections })
  return {
    service: new HandoffService({ store, clock: systemClock, ids: uuidV7Ids }),
    history: new HandoffHistory({ store }),
  }
}

const unlessRetryable = (error: unknown): void => {
  if (!(error instanceof StoreFailure && error.retryable)) throw error
}

type Services = Awaited<ReturnType<typeof open>>

type Work = {
  readonly [J in keyof Jobs]: (services: Services, asks: Jobs[J]['asks']) => Promise<Jobs[J]['gives']>
}

const WORK: Work = {
  claimAll: async ({ service }, { targetAgent, workers, name }) => {
    const claims: { handoff: string; claimant: string }[] = []
    const work = async (claimant: string): Promise<void> => {
      for (;;) {
        const { handoff } = unwrap(await service.claimNext({ targetAgent, claimant }))
        if (handoff === undefined) return
        claims.push({ handoff: handoff.id, claimant })
      }
    }
    await Promise.all(Array.from({ length: workers }, (_, n) => work(`${name}-${n}`)))
    return claims
  },
  settle: ({ service }, all) =>
    Promise.all(
      all.map(async ({ handoff: id, command, by }) => {
        const handoff = handoffId(id)
        const result = await {
          accept: () => service.acceptHandoff({ handoff, claimant: by ?? 'nobody' }),
          cancel: () => service.cancelHandoff({ handoff, reason: 'Not needed', ...(by && { by }) }),
          fail: () => service.failHandoff({ handoff, reason: 'It broke', ...(by && { by }) }),
          complete: () => service.completeHandoff({ handoff, ...(by && { claimant: by }) }),
        }[command]()
        return result.ok ? { ok: true } : { ok: false, code: result.error.code }
      }),
    ),
  record: async ({ service, history }, { session, holder, turns, isBusy = false }) => {
    const ask = () => history.session(agentSessionId(session)).catch(unlessRetryable)
    for (let count = 1; count <= turns; count += 1) {
      const turn = {
        session: agentSessionId(session),
        holder: holderToken(holder),
        messages: [{ role: 'user' as const, text: `Turn ${count}` }],
        commandId: commandId(uuidV7Ids.next()),
      }
      for (;;) {
        try {
          const asking = isBusy ? Array.from({ length: 8 }, ask) : []
          const [recorded] = await Promise.all([service.recordTurn(turn), ...asking])
          unwrap(recorded)
          break
        } catch (error) {
          unlessRetryable(error)
        }
      }
      await new Promise((resolve) => setTimeout(resolve, 5))
    }
    return turns
  },
}

/** A job as it comes through the pipe. */
type Asked = { readonly [J in keyof Jobs]: { readonly job: J; readonly asks: Jobs[J]['asks'] } }[keyof Jobs]

const carryOut = (services: Services, { job, asks }: Asked): Promise<unknown> =>
  (WORK[job] as (services: Services, asks: unknown) => Promise<unknown>)(services, asks)

const options = process.env.WORKER_OPTIONS
if (options !== undefined && process.send !== undefined) {
  const services = await open(JSON.parse(options) as WorkerOptions)
  process.on('message', async (asked: Asked) => process.send?.({ gives: await carryOut(services, asked) }))
  process.send({ gives: 'ready' })
}
