import pg from 'pg'
import { openPostgres } from '../../src/adapters/postgres/open/open-postgres.ts'
import { HandoffHistory } from '../../src/entry/container.ts'
import type { Store } from '../../src/entry/ports.ts'
import { cloneDatabase, withDatabase } from '../support/test-databases.ts'

/** One step of a plan, as EXPLAIN tells it. */
interface PlanNode {
  readonly 'Node Type': string
  readonly 'Relation Name'?: string
  readonly 'Index Name'?: string
  readonly 'Actual Rows': number
  readonly 'Actual Loops': number
  readonly 'Shared Hit Blocks': number
  readonly 'Shared Read Blocks': number
  readonly Plans?: readonly PlanNode[]
}

/** What the database was asked. */
interface Asked {
  readonly text: string
  readonly values: readonly unknown[]
}

/** What a question cost: what was read, and by which way. */
export interface Explained {
  readonly roundTrips: number
  readonly buffers: number
  readonly sequentialScans: readonly string[]
  readonly indexes: readonly string[]
}

/** A history over a database of its own, and a way to see how each question is answered. */
export class ExplainedHistory implements AsyncDisposable {
  readonly history: HandoffHistory
  readonly store: Store
  readonly pool: pg.Pool
  readonly #asked: Asked[]
  #names = 0
  readonly #close: () => Promise<void>

  private constructor(store: Store, pool: pg.Pool, asked: Asked[], close: () => Promise<void>) {
    this.store = store
    this.history = new HandoffHistory({ store })
    this.pool = pool
    this.#asked = asked
    this.#close = close
  }

  static async open(): Promise<ExplainedHistory> {
    const url = process.env.TEST_DATABASE_URL ?? ''
    const connectionString = withDatabase(url, await cloneDatabase())
    const [pool, watched] = [new pg.Pool({ connectionString, max: 1 }), new pg.Pool({ connectionString, max: 1 })]
    for (const each of [pool, watched]) each.on('error', () => {})
    const asked: Asked[] = []
    watched.on('connect', (client) => watch(client, asked))
    const store = await openPostgres({ pool: watched })
    const close = async (): Promise<void> => {
      await Promise.all([store[Symbol.asyncDispose](), pool.end(), watched.end()])
    }
    return new ExplainedHistory(store, pool, asked, close)
  }

  /** Asks, and then has the database explain how it answered. */
  async explain(ask: (history: HandoffHistory) => Promise<unknown>): Promise<Explained> {
    this.#asked.length = 0
    await ask(this.history)
    const asked = [...this.#asked]
    const [first] = asked
    if (first === undefined) throw new Error('Nothing was asked of the database')
    await this.#plan(first)
    const plan = await this.#plan(first)
    const nodes = nodesOf(plan)
    return {
      roundTrips: asked.length,
      buffers: plan['Shared Hit Blocks'] + plan['Shared Read Blocks'],
      sequentialScans: nodes
        .filter((node) => node['Node Type'] === 'Seq Scan')
        .map((node) => node['Relation Name'] ?? ''),
      indexes: [...new Set(nodes.flatMap((node) => node['Index Name'] ?? []))],
    }
  }

  /** The first time, a connection also reads the catalog; what the question itself costs shows the second time. */
  async #plan({ text, values }: Asked): Promise<PlanNode> {
    const { rows } = await this.pool.query<{ 'QUERY PLAN': [{ Plan: PlanNode }] }>(
      `explain (analyze, buffers, timing off, format json) ${text}`,
      [...values],
    )
    const [explained] = rows
    if (explained === undefined) throw new Error('The database explained nothing')
    return explained['QUERY PLAN'][0].Plan
  }

  /** The handoffs that a question reads which was asked often: a server may plan it for any values from then on. */
  async handoffsRead(ask: (history: HandoffHistory) => Promise<unknown>): Promise<number> {
    this.#asked.length = 0
    await ask(this.history)
    return this.handoffsReadBy(this.#asked[0] ?? { text: '', values: [] })
  }

  /** The same of a statement. */
  async handoffsReadBy({ text, values }: Asked): Promise<number> {
    const often = { name: `often_${++this.#names}`, text, values: [...values] }
    for (let times = 0; times < 8; times += 1) await this.pool.query(often)
    const client = await this.pool.connect()
    try {
      await client.query('begin')
      const before = await readSoFar(client)
      await client.query(often)
      return (await readSoFar(client)) - before
    } finally {
      await client.query('rollback')
      client.release()
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#close()
  }
}

const readSoFar = async (client: pg.PoolClient): Promise<number> => {
  const { rows } = await client.query<{ read: number }>(
    `select (seq_tup_read + idx_tup_fetch)::int as read from pg_stat_xact_user_tables where relname = 'handoffs'`,
  )
  return rows[0]?.read ?? Number.NaN
}

/** The steps that were taken. */
const nodesOf = (node: PlanNode): readonly PlanNode[] =>
  node['Actual Loops'] === 0 ? [] : [node, ...(node.Plans ?? []).flatMap(nodesOf)]

/** Notes what a connection is asked, and passes it on. */
const watch = (client: pg.PoolClient, asked: Asked[]): void => {
  const query = client.query.bind(client) as (...args: readonly unknown[]) => unknown
  const watched = (...args: readonly unknown[]): unknown => {
    const [what, values = []] = args as [string | Partial<Asked>, (readonly unknown[])?]
    asked.push(typeof what === 'string' ? { text: what, values } : { text: '', values, ...what })
    return query(...args)
  }
  Object.assign(client, { query: watched })
}
