import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { openPostgres } from '../../src/adapters/postgres/open/open-postgres.ts'
import { toStorableJson } from '../../src/adapters/postgres/rows/text-codec.ts'
import { unitColumns } from '../../src/adapters/postgres/rows/unit-rows.ts'
import { HandoffService, systemClock, uuidV7Ids } from '../../src/entry/container.ts'
import { type ConversationId, unwrap } from '../../src/entry/index.ts'
import type { FeedEntry, Store, Unit } from '../../src/entry/ports.ts'
import { withUnitOfWork } from '../faulty-stores/wrap.ts'
import { emptyDatabase } from '../migrations/empty-database.ts'
import { ownDatabase, ownStage, Stage } from './stage.ts'

let url: string
let stage: Stage

beforeAll(async () => {
  url = await ownDatabase()
  stage = await ownStage(url)
})
afterAll(() => stage.store[Symbol.asyncDispose]())

const serviceOver = (store: Store): HandoffService => new HandoffService({ store, clock: systemClock, ids: uuidV7Ids })

/** A writer that takes its time: what it writes is decided now and committed later. */
const slowWriter = async (decide: (service: HandoffService) => Promise<unknown>) => {
  const units: Unit[] = []
  const commit = async (unit: Unit) => {
    units.push(unit)
    return { outcome: 'kept' } as const
  }
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  await client.query('begin')
  await client.query('select pg_current_xact_id()')
  return {
    write: async (): Promise<void> => {
      await decide(serviceOver(withUnitOfWork(stage.store, { commit })))
      for (const unit of units) {
        const { rows, streams, bodies, salts } = unitColumns(unit)
        const commit = 'select batonpass.commit_unit_v1($1::jsonb, $2::uuid[], $3::text[], $4::text[])'
        await client.query(commit, [toStorableJson(rows), streams, bodies, salts])
      }
    },
    end: async (how: 'commit' | 'rollback'): Promise<void> => {
      await client.query(how)
      await client.end()
    },
  }
}

/** Reads the feed from its beginning until it is told to stop, and then to its end. */
const reader = (pollMs = 1) => {
  const stop = new AbortController()
  const seen: FeedEntry[] = []
  let after: string | undefined
  const reading = (async () => {
    const from = after === undefined ? {} : { after }
    for await (const page of stage.audit.follow({ ...from, signal: stop.signal, pollMs, limit: 7 })) {
      seen.push(...page.entries)
      after = page.next
    }
  })()
  onTestFinished(async () => {
    stop.abort()
    await reading
  })
  return {
    seen,
    finish: async (isComplete: () => boolean): Promise<void> => {
      const deadline = Date.now() + 600_000
      while (!isComplete() && Date.now() < deadline) await new Promise((resolve) => setTimeout(resolve, 10))
      stop.abort()
      await reading
    },
  }
}

const open = async (): Promise<ConversationId> => (await stage.scene.conversation()).id

const idsIn = (seen: readonly FeedEntry[]): readonly ConversationId[] =>
  seen.map(({ conversationId }) => conversationId)

const keysOf = (entries: readonly { readonly conversationId: string; readonly position: number }[]) =>
  entries.map(({ conversationId, position }) => `${conversationId}/${position}`)

/** So many entries after a cursor, once they are there: other tests write on the same server, and the feed waits for them. */
const untilRead = async ({ audit }: Stage, count: number, after?: string) => {
  for (;;) {
    const { entries, next } = await audit.changes(after === undefined ? {} : { after })
    if (entries.length >= count) return { keys: keysOf(entries), next }
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
}

/** Everything that is stored, to compare the feed with. */
const stored = async (): Promise<readonly string[]> => {
  const rows = await stage.rows<{ key: string }>(
    `select conversation_id || '/' || position as key from batonpass.audit_entries order by key`,
  )
  return rows.map(({ key }) => key)
}

describe('the feed', () => {
  it.each(['commit', 'rollback'] as const)('skips nothing while a writer is in flight: %s', async (how) => {
    const { seen, finish } = reader()
    const before = await open()
    let slow: ConversationId | undefined
    const writer = await slowWriter(async (service) => {
      slow = unwrap(await service.openConversation({ originalTask: 'Take your time' })).conversation.id
    })
    await writer.write()
    const meanwhile = await Promise.all(Array.from({ length: 20 }, open))
    await new Promise((resolve) => setTimeout(resolve, 300))
    expect(idsIn(seen)).toContain(before)
    expect(idsIn(seen).filter((id) => meanwhile.includes(id) || id === slow)).toEqual([])
    await writer.end(how)
    await finish(() => meanwhile.every((id) => idsIn(seen).includes(id)))
    expect(keysOf(seen).toSorted()).toEqual(await stored())
    expect(idsIn(seen).includes(slow as ConversationId)).toBe(how === 'commit')
  })

  it('gives every entry of 8 writers × 50 commands once, each conversation in order', {
    timeout: 600_000,
  }, async () => {
    const { seen, finish } = reader()
    const stores = await Promise.all(
      Array.from({ length: 8 }, () => openPostgres({ connectionString: url, maxConnections: 2 })),
    )
    const shared = await stage.scene.session()
    await Promise.all(
      stores.map(async (store) => {
        const service = serviceOver(store)
        const { conversation } = unwrap(await service.openConversation({ originalTask: 'Write a lot' }))
        const agent = { conversationId: conversation.id, agentName: 'claude-code', backend: 'scripted' }
        let working = unwrap(await service.startSession(agent))
        for (let command = 2; command < 50; command += 1) {
          if (command % 5 === 0) unwrap(await service.captureSnapshot(shared))
          else
            working = {
              ...working,
              ...unwrap(await service.recordTurn({ ...working, ...stage.scene.turn('read_file') })),
            }
        }
      }),
    )
    await Promise.all(stores.map((store) => store[Symbol.asyncDispose]()))
    const all = await stored()
    await finish(() => seen.length >= all.length)
    expect(keysOf(seen).toSorted()).toEqual(all)
    expect(outOfOrder(seen)).toEqual([])
  })

  it('keeps the order of a conversation when an older transaction writes to it last', async () => {
    const { seen, finish } = reader()
    const working = await stage.scene.session()
    const { conversationId } = working.session
    const writer = await slowWriter((service) => service.pauseSession(working))
    unwrap(await stage.scene.service.captureSnapshot(working))
    await writer.write()
    await writer.end('commit')
    const mine = () => seen.filter((entry) => entry.conversationId === conversationId)
    await finish(() => mine().length >= 5)
    expect(mine().map(({ position }) => position)).toEqual([1, 2, 3, 4, 5])
  })

  it('notices by the counter where a server does not say which one it is', async () => {
    const own = await ownStage(await ownDatabase())
    const first = await own.scene.conversation()
    const { keys } = await untilRead(own, 1)
    expect(keys).toEqual([`${first.id}/1`])
    await own.tamper(
      [`create or replace function batonpass.feed_server() returns text language sql stable as 'select null::text'`],
      [`update batonpass.audit_entries set transaction_id = (transaction_id::text::bigint + 100000000)::text::xid8`],
      [`update batonpass.audit_heads set transaction_id = (transaction_id::text::bigint + 100000000)::text::xid8`],
    )
    // Nothing of another server is in flight here, so this does not wait.
    expect(keysOf((await own.audit.changes()).entries)).toEqual(keys)
    const again = await own.audit.endOfChanges()
    const second = await own.scene.conversation()
    expect((await untilRead(own, 1, again)).keys).toEqual([`${second.id}/1`])
    expect((await untilRead(own, 2)).keys).toEqual([...keys, `${second.id}/1`])
    await own.store[Symbol.asyncDispose]()
  })

  it('refuses a cursor ahead of the store, and one of another store', async () => {
    const { entries, next } = await stage.audit.changes({ limit: 1 })
    expect(entries).toHaveLength(1)
    const [number, mark, transaction, ...rest] = JSON.parse(Buffer.from(next, 'base64url').toString('utf8'))
    const cursor = (...parts: readonly unknown[]) => Buffer.from(JSON.stringify(parts)).toString('base64url')
    const asked = (after: string) => stage.audit.changes({ after, limit: 1 })
    const ahead = cursor(number, mark, String(BigInt(transaction) + 1_000_000_000n), ...rest)
    await expect(asked(ahead)).rejects.toMatchObject({ code: 'input.invalid', message: /ahead of the store/ })
    for (const other of [
      cursor(number, '00000000', transaction, ...rest),
      cursor(number + 1, mark, transaction, ...rest),
    ])
      await expect(asked(other)).rejects.toMatchObject({ code: 'input.invalid', message: /of another store/ })
    for (const strange of [cursor(number, mark, 'x', ...rest), cursor(number, mark, transaction, 'x', 1), cursor(1, 2)])
      await expect(asked(strange)).rejects.toMatchObject({ code: 'input.invalid' })
  })

  it.each([
    'update batonpass.feed_generations set ahead = 0',
    'delete from batonpass.feed_generations',
    'truncate batonpass.feed_generations',
  ])('keeps its generations: %s is refused', async (statement) => {
    await expect(stage.rows(statement)).rejects.toMatchObject({ code: 'BP002' })
  })

  it('takes a cursor of before there were generations', async () => {
    const own = new Stage(await openPostgres({ connectionString: await emptyDatabase(), autoMigrate: true }))
    await own.scene.conversation()
    const { next } = await untilRead(own, 1)
    const second = await own.scene.conversation()
    const [number, , ...key] = JSON.parse(Buffer.from(next, 'base64url').toString('utf8'))
    expect(number).toBe(1)
    const old = Buffer.from(JSON.stringify(key)).toString('base64url')
    expect((await untilRead(own, 1, old)).keys).toEqual([`${second.id}/1`])
    await own.store[Symbol.asyncDispose]()
  })
})

const outOfOrder = (seen: readonly FeedEntry[]): readonly string[] => {
  const last = new Map<string, number>()
  return seen.flatMap(({ conversationId, position }) => {
    const before = last.get(conversationId) ?? 0
    last.set(conversationId, position)
    return position === before + 1 ? [] : [`${conversationId}: ${position} after ${before}`]
  })
}
