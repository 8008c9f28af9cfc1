import { afterAll, describe, expect, it } from 'vitest'
import { openMigratorAt } from '../../src/adapters/postgres/open-migrator.ts'
import { BUDGET_LIMITS } from '../../src/domain/budget/restart-budget.ts'
import {
  HANDOFF_FLAGS,
  HANDOFF_KINDS,
  HANDOFF_STATUSES,
  TERMINAL_HANDOFF_STATUSES,
} from '../../src/domain/handoff/handoff.ts'
import { SESSION_STATES, TERMINAL_SESSION_STATES } from '../../src/domain/session/agent-session.ts'
import { SIGNAL_DELIVERIES, SIGNAL_KINDS, SIGNAL_STATUSES } from '../../src/domain/session/context-signal.ts'
import { SNAPSHOT_TYPES } from '../../src/domain/session/context-snapshot.ts'
import { LOOK_BACK_WAYS } from '../../src/domain/session/looked-back.ts'
import { MESSAGE_ORIGINS, MESSAGE_ROLES } from '../../src/domain/turn/message.ts'
import { PRESSURE_POLICIES } from '../../src/domain/window/context-monitor.ts'
import { ask } from '../migrations/empty-database.ts'
import { cloneDatabase, withDatabase } from '../support/test-databases.ts'

const OPEN_STATUSES = HANDOFF_STATUSES.filter((status) => !TERMINAL_HANDOFF_STATUSES.includes(status))

/** Each list in the schema, and the one in the domain that it must equal. */
const LISTS: Readonly<Record<string, readonly string[]>> = {
  agent_sessions_state_known: SESSION_STATES,
  agent_sessions_ended_by_known: BUDGET_LIMITS,
  agent_sessions_end_only_when_ended: TERMINAL_SESSION_STATES,
  context_monitors_policy_known: PRESSURE_POLICIES,
  context_signals_delivery_known: SIGNAL_DELIVERIES,
  context_signals_kind_known: SIGNAL_KINDS,
  context_signals_status_known: SIGNAL_STATUSES,
  context_snapshots_type_known: SNAPSHOT_TYPES,
  handoffs_flags_known: HANDOFF_FLAGS,
  handoffs_kind_known: HANDOFF_KINDS,
  handoffs_status_known: HANDOFF_STATUSES,
  handoffs_ended_when_over: TERMINAL_HANDOFF_STATUSES,
  handoffs_end_says_why: TERMINAL_HANDOFF_STATUSES.filter((status) => status !== 'completed'),
  handoffs_one_open: OPEN_STATUSES,
  handoffs_by_arrival: OPEN_STATUSES,
  handoffs_pending: OPEN_STATUSES,
  look_backs_way_known: LOOK_BACK_WAYS,
  messages_origin_known: MESSAGE_ORIGINS,
  messages_role_known: MESSAGE_ROLES,
}

/** Lists that stand for no list of the domain, and why. */
const NO_LIST: Readonly<Record<string, string>> = {
  handoffs_claim_when_accepted: 'the two statuses that cannot be without a claim',
  handoffs_delegated: 'the one flag of threads that somebody waits for',
  handoffs_only_threads_delegated: 'the one flag that only threads have',
}

/** Every CHECK and every partial index that has a list of words in it. */
const QUERY = `
  select conname::text as name, pg_get_constraintdef(oid) as text from pg_constraint
  where connamespace = 'batonpass'::regnamespace and contype = 'c' and pg_get_constraintdef(oid) like '%ARRAY[%'
  union all
  select indexrelid::regclass::text, pg_get_expr(indpred, indrelid) from pg_index
  where indrelid in (select oid from pg_class where relnamespace = 'batonpass'::regnamespace)
    and pg_get_expr(indpred, indrelid) like '%ARRAY[%'`

const wordsIn = (text: string): readonly string[] => [...text.matchAll(/'(\w+)'::text/g)].map(([, word = '']) => word)

describe('the lists of the schema', async () => {
  const connectionString = withDatabase(process.env.TEST_DATABASE_URL ?? '', await cloneDatabase())
  const opened = openMigratorAt({ connectionString })
  afterAll(() => opened[Symbol.asyncDispose]())
  const read = async (): Promise<ReadonlyMap<string, readonly string[]>> => {
    const rows = await ask<{ name: string; text: string }>(opened.database, QUERY)
    return new Map(rows.map(({ name, text }) => [name.replace('batonpass.', ''), wordsIn(text)]))
  }

  it('are all compared', async () => {
    expect([...(await read()).keys()].toSorted()).toEqual([...Object.keys(LISTS), ...Object.keys(NO_LIST)].toSorted())
  })

  it.each(Object.entries(LISTS))('equal those of the domain: %s', async (name, list) => {
    expect((await read()).get(name)?.toSorted()).toEqual(list.toSorted())
  })

  it('are seen when they differ', async () => {
    await ask(opened.database, 'alter table batonpass.messages drop constraint messages_role_known')
    await ask(
      opened.database,
      `alter table batonpass.messages add constraint messages_role_known check (role in ('user', 'narrator'))`,
    )
    expect((await read()).get('messages_role_known')).toEqual(['user', 'narrator'])
  })
})
