import type pg from 'pg'
import { describeThrown } from '../../../domain/kernel/describe-thrown.ts'
import { StoreFailure } from '../../../ports/store/store-failure.ts'
import type { Finding } from '../../../ports/system/health-check.ts'
import { clientOf } from '../open/server-client.ts'
import { lookAt } from '../open/server-facts.ts'
import { type Addresses, serverList } from '../open/server-list.ts'
import { ServerSearch } from '../open/server-search.ts'
import { misfit } from '../open/session-kind.ts'
import { toFailure } from '../statements/pg-errors.ts'
import type { ExaminedStore } from './examined-store.ts'

const CONNECT_MS = 5_000
const ANSWER_MS = 15_000

/** The oldest server that is supported, as Postgres counts versions. */
const OLDEST = 150_000

/** Whether the store opens; on a server also whether it is one that can be used. */
export const storeOpens = async (store: ExaminedStore): Promise<readonly Finding[]> => {
  try {
    const findings = store.isServer ? await serverFacts(store) : await embeddedFacts(store)
    store.isOpen = true
    return findings
  } catch (error) {
    const failure = error instanceof StoreFailure ? error : toFailure(error)
    if (failure.code === 'store.missing')
      return [{ result: 'ok', text: 'there is none yet; the first command that writes makes it' }]
    if (failure.code === 'store.locked')
      return [{ result: 'warning', text: 'another process has it, so what is in it was not looked at', repair: LOCKED }]
    const text = `it does not open: ${describeThrown(failure)} (${failure.code})`
    const repair = REPAIRS[failure.code]
    return [{ result: 'problem', text, ...(repair !== undefined && { repair }) }]
  }
}

const REPAIRS: Readonly<Partial<Record<StoreFailure['code'], string>>> = {
  'store.unavailable': 'Start the server, or mend the address; "psql ADDRESS" shows the same without Batonpass.',
  'store.bad_address': 'Mend the address: postgres://user@host/database.',
  'store.full': 'Free some space on that disk.',
}

const LOCKED = 'Look again when that process has ended; a Postgres server can be looked at while others work.'

interface Facts {
  readonly version: number
  readonly shown: string
  readonly standby: boolean
}

const FACTS = `select current_setting('server_version_num')::integer as version, current_setting('server_version') as shown,
  pg_is_in_recovery() as standby`

/** Over a connection of its own: its waits are short, whatever the store does. */
const serverFacts = async ({ address }: ExaminedStore): Promise<readonly Finding[]> => {
  const { rows } = await connected(address.connectionString ?? '', (client) => client.query<Facts>(FACTS))
  const { version, shown, standby } = rows[0] ?? { version: 0, shown: 'unknown', standby: false }
  const server: Finding =
    version >= OLDEST
      ? { result: 'ok', text: `it answers: Postgres ${shown}` }
      : { result: 'problem', text: `it is Postgres ${shown}`, repair: 'Use Postgres 15 or newer.' }
  const place: Finding = {
    result: 'problem',
    text: 'it is a standby, which takes no writes',
    repair: 'Use the address of the primary.',
  }
  return [server, ...(standby ? [place] : []), ...(await eachServer(address.connectionString ?? ''))]
}

/** Of several servers: the part that each of them plays. One that is away is found out when it is needed. */
const eachServer = async (addresses: Addresses): Promise<readonly Finding[]> => {
  const { servers, wanted } = serverList(addresses, 'writing')
  if (servers.length === 1) return []
  return Promise.all(
    servers.map(async (server): Promise<Finding> => {
      try {
        const facts = await lookAt(server, CONNECT_MS)
        return { result: 'ok', text: `${server.name} ${misfit(wanted, facts) ?? 'takes writes'}` }
      } catch (error) {
        const text = `${server.name} cannot be used now: ${toFailure(error).message}`
        return { result: 'warning', text, repair: 'Start it, or take it out of the address.' }
      }
    }),
  )
}

const embeddedFacts = async (store: ExaminedStore): Promise<readonly Finding[]> => {
  const [row] = await store.ask<{ shown: string }>(`select current_setting('server_version') as shown`)
  return [{ result: 'ok', text: `it opens: PGlite with Postgres ${row?.shown ?? 'of an unknown version'}` }]
}

const connected = async <T>(
  addresses: Addresses,
  work: (client: pg.Client) => Promise<T>,
  more: object = {},
): Promise<T> => {
  const search = new ServerSearch(serverList(addresses, 'writing'), { waitMs: CONNECT_MS })
  await search.find()
  const Client = clientOf(search)
  const client = new Client({ connectionTimeoutMillis: CONNECT_MS, query_timeout: ANSWER_MS, ...more })
  client.on('error', () => {})
  try {
    await client.connect()
    return await work(client)
  } finally {
    await client.end().catch(() => {})
  }
}

/**
 * Whether something stands between here and the server. A server names its own process when it lets somebody in; a pooler
 * names what it likes, because the process changes from transaction to transaction.
 */
export const poolerBetween = async ({ address, isOpen, isServer }: ExaminedStore): Promise<readonly Finding[]> => {
  if (!isOpen || !isServer) return []
  const { connectionString = '', pooled = false } = address
  const isPooler = await connected(connectionString, async (client) => {
    const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid')
    return rows[0]?.pid !== (client as unknown as { readonly processID: number | null }).processID
  })
  if (!isPooler)
    return [
      {
        result: 'ok',
        text: pooled ? 'none, though --pooled says so: that only costs time' : 'none between here and the server',
      },
    ]
  if (pooled) return [{ result: 'ok', text: 'there is one, and --pooled says so' }]
  const refused = await connected(connectionString, async () => undefined, { statement_timeout: ANSWER_MS }).catch(
    describeThrown,
  )
  const why =
    refused === undefined ? 'named statements get lost there' : 'it refuses the settings of a direct connection'
  return [
    {
      result: 'problem',
      text: `a pooler such as PgBouncer stands before the server, and ${why}`,
      repair: 'Add --pooled; in a program: createBatonpass({ pooled: true }).',
    },
  ]
}

/** How far this machine's clock is from the server's: times in the record are of one, claims and leases of the other. */
export const clockDifference = async (store: ExaminedStore): Promise<readonly Finding[]> => {
  if (!store.isOpen || !store.isServer) return []
  const tries: { readonly wait: number; readonly apart: number }[] = []
  for (let number = 0; number < 3; number += 1) {
    const before = Date.now()
    const question = `select (extract(epoch from clock_timestamp()) * 1000)::float8 as at`
    const [row] = await store.ask<{ at: number }>(question)
    const after = Date.now()
    tries.push({ wait: after - before, apart: Number(row?.at) - (before + after) / 2 })
  }
  const { wait, apart } = tries.reduce((best, next) => (next.wait < best.wait ? next : best))
  return [clockFinding(apart, wait)]
}

/** How far the clocks may be apart before claims are decided twice. */
const FEW_MS = 2_000
const MANY_MS = 300_000

/** A difference that the way there explains is none. */
export const clockFinding = (apart: number, wait: number): Finding => {
  const sure = Math.max(0, Math.abs(apart) - wait / 2)
  const text = `${(Math.abs(apart) / 1_000).toFixed(1)} s ${apart >= 0 ? 'behind' : 'ahead of'} the database (measured in ${wait} ms)`
  if (sure <= FEW_MS) return { result: 'ok', text: `this machine is ${text}` }
  const repair =
    'Let both follow a time server (chrony, systemd-timesyncd): claims and leases go by the database’s clock.'
  return { result: sure > MANY_MS ? 'problem' : 'warning', text: `this machine is ${text}`, repair }
}

interface Standing {
  readonly durability: string
  readonly timeline: number | null
}

/** Every promotion of a standby, and every restore to a moment, begins a new timeline. */
const STANDING = `select current_setting('synchronous_commit') as durability,
  case when pg_is_in_recovery() then null
  else ('x' || substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8))::bit(32)::integer end as timeline`

/**
 * Commits that were acknowledged and lost, as far as they can be seen: the setting that allows it, and whether it may have
 * happened. Whether it did, only a process knows that was answered.
 */
export const lostCommits = async (store: ExaminedStore): Promise<readonly Finding[]> => {
  if (!store.isOpen || !store.isServer) return []
  const [standing] = await store.ask<Standing>(STANDING)
  if (standing === undefined) return []
  return [durability(standing), history(standing)]
}

const durability = ({ durability: setting }: Standing): Finding =>
  setting === 'off'
    ? {
        result: 'warning',
        text: 'the server acknowledges commits before they are on its disk (synchronous_commit is off): a crash of it can lose the last ones',
        repair: 'alter role ... set synchronous_commit = on, for the role of this address.',
      }
    : { result: 'ok', text: `a commit is acknowledged once it is on disk (synchronous_commit is ${setting})` }

const history = ({ timeline }: Standing): Finding =>
  timeline === null || timeline <= 1
    ? { result: 'ok', text: 'no standby has taken over here, and the server was not restored to a moment' }
    : {
        result: 'ok',
        text: `a standby took over, or the server was restored to a moment (timeline ${timeline}); whether commits were lost then cannot be seen from here: processes that were answered fail with store.set_back`,
      }
