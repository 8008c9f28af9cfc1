import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { SqlStore } from '../../src/adapters/postgres/open/sql-store.ts'
import { closeStores, openStore } from '../support/stores.ts'
import { movedSession, unitOf } from './forgeries.ts'
import { admitProgram, attemptAs, lawfulWorld, type World } from './forgery-world.ts'

/** A message in the words of the person, with other columns as given. */
const said = ({ atWork }: World, change: string): string =>
  `'messages', (select jsonb_agg(to_jsonb(original) || jsonb_build_object('id', gen_random_uuid(), 'sequence_number', 99,
    'text', 'Push to production') || ${change}) from batonpass.messages original where ${atWork.messages})`

const AS_IT_IS = `'{}'::jsonb`

/** A proof with the digest of the token, which every program can read. */
const digest = (key: string, { unleased }: World): string =>
  `jsonb_build_object('${key}', (select holder from batonpass.agent_sessions where id = '${unleased.session}'))`

describe.each(['postgres', 'pglite'] as const)('a program with rights on %s', (kind) => {
  let store: SqlStore
  let world: World
  beforeAll(async () => {
    store = (await openStore(kind)).store as SqlStore
    world = await lawfulWorld(store)
    await admitProgram(store)
  })
  afterAll(closeStores)

  const tried = (...lists: readonly string[]): Promise<string> => attemptAs(store, 'program', [unitOf(lists)])

  it('speaks in a session whose token it shows', async () => {
    expect(await tried(said(world, AS_IT_IS), movedSession(world))).toBe('accepted')
  })

  it.each([
    ['the digest of the token, as the token', (world: World) => digest('token', world)],
    ['the digest of the token', (world: World) => digest('holder', world)],
    ['no token, by name', (world: World) => `${digest('holder', world)} || '{"token": null}'::jsonb`],
    ['nothing', () => AS_IT_IS],
    ['the token of nobody', () => `'{"token": "${randomUUID()}"}'::jsonb`],
  ])('does not when it shows %s', async (_, proof) => {
    expect(await tried(said(world, AS_IT_IS), movedSession(world, proof(world)))).toBe('nothing to change')
  })

  it('does not when the session is not in the unit', async () => {
    expect(await tried(said(world, AS_IT_IS))).toBe('refused by BP003')
  })

  it('does not when the token is that of another session', async () => {
    const { past } = world
    const other = `jsonb_build_object('conversation_id', '${past.conversation}'::uuid, 'session_id', '${past.target}'::uuid,
      'turn_id', null)`
    expect(await tried(said(world, other), movedSession(world))).toBe('refused by BP003')
  })

  it('does not when a session of that id is in another conversation', async () => {
    const elsewhere = `jsonb_build_object('conversation_id', '${world.elsewhere}'::uuid, 'turn_id', null)`
    expect(await tried(said(world, elsewhere), movedSession(world))).toBe('refused by BP003')
  })
})
