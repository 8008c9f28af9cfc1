import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openPostgres } from '../../src/adapters/postgres/open/open-postgres.ts'
import { commandId } from '../../src/domain/kernel/ids.ts'
import { unwrap } from '../../src/domain/unwrap.ts'
import type { Store } from '../../src/ports/store/store.ts'
import { Scene } from '../../src/testing/scene.ts'
import { cloneDatabase, withDatabase } from '../support/test-databases.ts'
import { ALL_COMMANDS, COMMANDS } from './commands.ts'
import { added, countRows, expectStored, NOTHING } from './whole-record.ts'

let admin: pg.Pool
let store: Store
let scene: Scene

beforeAll(async () => {
  const url = withDatabase(process.env.TEST_DATABASE_URL ?? '', await cloneDatabase())
  admin = new pg.Pool({ connectionString: url, max: 2 })
  store = await openPostgres({ connectionString: url })
  scene = new Scene({ store, passTime: async () => {} })
  // A sequence counts tries that are rolled back too.
  await admin.query(`
    create sequence public.tries;
    create table public.plan (failing integer not null, state text not null);
    insert into public.plan values (0, '40001');
    create function public.fail_as_planned() returns trigger language plpgsql as $$
    declare planned public.plan;
    begin
      select * into planned from public.plan;
      if nextval('public.tries') <= planned.failing then
        raise exception using errcode = planned.state, message = 'planned for a test';
      end if;
      return null;
    end $$;
    create trigger planned after insert on batonpass.commands
      for each row execute function public.fail_as_planned();`)
})
afterAll(async () => {
  await store[Symbol.asyncDispose]()
  await admin.end()
})

/** The next tries go wrong like this. */
const plan = async (failing: number, state: string): Promise<void> => {
  await admin.query('update public.plan set failing = $1, state = $2', [failing, state])
  await admin.query('alter sequence public.tries restart')
}

const tried = async (): Promise<number> => {
  const { rows } = await admin.query<{ last_value: string; is_called: boolean }>('select * from public.tries')
  return rows[0]?.is_called ? Number(rows[0].last_value) : 0
}

describe.each(['40001', '40P01', '57P01', '08006'])('the first two tries end in %s', (state) => {
  it.each(ALL_COMMANDS)('%s succeeds with the third, once', async (_, prepare) => {
    await plan(0, state)
    const { ask } = await prepare(scene)
    const there = await countRows(admin)
    await plan(2, state)
    const answer = unwrap(await ask(scene.service, commandId(scene.ids.next())))
    expect(await tried()).toBe(3)
    expect(added(there, await countRows(admin)).commands).toBe(1)
    await expectStored(store, answer)
  })
})

describe.each([
  { state: '40001', code: 'store.contention', tries: 5, says: 'Too many writers' },
  { state: '40P01', code: 'store.contention', tries: 5, says: 'Too many writers' },
  { state: '57P01', code: 'store.unavailable', tries: 5, says: 'The server is shutting down or starting' },
  { state: '53300', code: 'store.unavailable', tries: 5, says: 'The server lacks connections' },
  { state: '25006', code: 'store.unavailable', tries: 5, says: 'The server takes no writes' },
  { state: '08006', code: 'store.unavailable', tries: 5, says: 'The database did not answer' },
  // Whoever has waited for a timeout is told, instead of waiting four times more.
  { state: '55P03', code: 'store.contention', tries: 1, says: 'Too many writers' },
  { state: '57014', code: 'store.unavailable', tries: 1, says: 'The server ended a statement that took too long' },
])('every try ends in $state', ({ state, code, tries, says }) => {
  it(`a command ends in ${code} after ${tries}, keeps nothing, and may be tried again`, async () => {
    await plan(0, state)
    const { ask } = await COMMANDS.complete(scene)
    const id = commandId(scene.ids.next())
    const there = await countRows(admin)
    await plan(1_000, state)
    const message = expect.stringMatching(new RegExp(`^${says}`))
    await expect(ask(scene.service, id)).rejects.toMatchObject({ name: 'StoreFailure', code, retryable: true, message })
    expect(await tried()).toBe(tries)
    expect(added(there, await countRows(admin))).toEqual(NOTHING)
    await plan(0, state)
    await expectStored(store, unwrap(await ask(scene.service, id)))
    expect(added(there, await countRows(admin)).commands).toBe(1)
  })
})

it.each(['22012', '42501', 'XX000'])('%s does not pass by itself: one try, not retryable', async (state) => {
  await plan(0, state)
  const { ask } = await COMMANDS.turn(scene)
  await plan(1_000, state)
  const asked = ask(scene.service, commandId(scene.ids.next()))
  await expect(asked).rejects.toMatchObject({ name: 'StoreFailure', code: 'store.failed', retryable: false })
  expect(await tried()).toBe(1)
  await plan(0, state)
})

it('53100 is a full disk, which needs a hand: one try, not retryable', async () => {
  await plan(0, '53100')
  const { ask } = await COMMANDS.turn(scene)
  await plan(1_000, '53100')
  const asked = ask(scene.service, commandId(scene.ids.next()))
  await expect(asked).rejects.toMatchObject({ name: 'StoreFailure', code: 'store.full', retryable: false })
  expect(await tried()).toBe(1)
  await plan(0, '53100')
})

it('a question is tried again too', async () => {
  await plan(0, '40001')
  const { handoff } = await scene.initiated()
  await admin.query(`
    alter function batonpass.handoff_document_v1 rename to handoff_document_undisturbed;
    create function batonpass.handoff_document_v1(handoff batonpass.handoffs) returns jsonb language plpgsql as $$
    declare planned public.plan;
    begin
      select * into planned from public.plan;
      if nextval('public.tries') <= planned.failing then
        raise exception using errcode = planned.state, message = 'planned for a test';
      end if;
      return batonpass.handoff_document_undisturbed(handoff);
    end $$;`)
  await plan(2, '40001')
  expect(await store.handoffs.find(handoff.id)).toStrictEqual(handoff)
  expect(await tried()).toBe(3)
})
