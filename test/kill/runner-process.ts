import { openPostgres } from '../../src/adapters/postgres/open/open-postgres.ts'
import { RefusedError } from '../../src/domain/unwrap.ts'
import { createBatonpass } from '../../src/main/batonpass.ts'
import { spokenLines } from '../embedded/spoken-lines.ts'
import { FileRuntime, RuntimeFolder, taskOf } from './file-runtime.ts'
import { killerFor } from './killing-store.ts'

/** What a runner process is told to do, one line each; it answers with one line of JSON. */
export type Order =
  /** Run a plan; killed or stopped where it says, or to the end. */
  | { readonly do: 'run'; readonly key: string; readonly leaseMs: number; readonly signal?: 'SIGKILL' | 'SIGSTOP' }
  /** Finish what others left; without runtimes it is failed. */
  | { readonly do: 'recover'; readonly leaseMs: number; readonly isWithout?: boolean; readonly askMs?: number }

const [connectionString = '', path = ''] = process.argv.slice(2)
const folder = new RuntimeFolder(path)
const store = await openPostgres({ connectionString, maxConnections: 4 })
const wait = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

const run = async ({ key, leaseMs, signal }: Extract<Order, { do: 'run' }>): Promise<unknown> => {
  const plan = folder.plan(key)
  const killer = signal && killerFor(plan, signal)
  const batonpass = await createBatonpass({ store: killer?.around(store) ?? store })
  const runtime = new FileRuntime({ folder, ...plan, ...(killer && { inside: killer.inside }) })
  const request = { runtime, agent: 'worker', prompt: taskOf(key), conversation: key, policy: 'auto' as const, leaseMs }
  return batonpass.run(request).finish()
}

const recover = async ({ leaseMs, isWithout, askMs = 0 }: Extract<Order, { do: 'recover' }>): Promise<unknown> => {
  const batonpass = await createBatonpass({ store })
  const inside = (moment: 'launching' | 'asking'): Promise<void> => wait(moment === 'asking' ? askMs : 0)
  const runtimes = [true, false].flatMap((takesSessionId) =>
    [true, false].map((canResume) => new FileRuntime({ folder, takesSessionId, canResume, inside })),
  )
  return batonpass.recover({ ...(isWithout !== true && { runtimes }), run: { leaseMs }, atOnce: 12 })
}

for await (const line of spokenLines()) {
  const order = JSON.parse(line) as Order
  try {
    console.log(JSON.stringify(order.do === 'run' ? await run(order) : await recover(order)))
  } catch (error) {
    const code = error instanceof RefusedError ? error.code : undefined
    console.log(JSON.stringify({ broke: String(error), code, stack: (error as Error).stack }))
  }
}
await store[Symbol.asyncDispose]()
