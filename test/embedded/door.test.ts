import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openDoor } from '../../src/adapters/postgres/embedded/door/door.ts'
import { asked, doorOn, heard, letIn, startup, wire } from './door-stage.ts'
import { temporaryFolder } from './temporary-folder.ts'

const isReady = (answer: string): boolean => /Z[IET]$/.test(answer)
const one = { rows: [{ one: 1 }] }
const select = 'select 1 as one'

/** One engine for all that does not care about limits, and one that takes little; opening one takes seconds. */
const stages = {} as { ample: Awaited<ReturnType<typeof doorOn>>; strict: Awaited<ReturnType<typeof doorOn>> }
const folders: string[] = []
const folderOf = (): string => {
  const folder = mkdtempSync(join(tmpdir(), 'batonpass-door-'))
  folders.push(folder)
  return folder
}

beforeAll(async () => {
  if (process.platform === 'win32') return
  stages.ample = await doorOn(folderOf())
  stages.strict = await doorOn(folderOf(), { mostBytes: 100_000 })
}, 0)

afterAll(async () => {
  for (const stage of Object.values(stages)) await stage[Symbol.asyncDispose]()
  for (const folder of folders) rmSync(folder, { recursive: true, force: true, maxRetries: 10 })
}, 0)

describe.skipIf(process.platform === 'win32')('at the door of an engine', { timeout: 0 }, () => {
  it('a client of Postgres is served: statements, parameters, failures, transactions', async () => {
    const stage = stages.ample
    const client = await stage.client()
    expect(await client.query('select $1::text as said, $2::int as number', ['hello', 7])).toMatchObject({
      rows: [{ said: 'hello', number: 7 }],
    })
    await expect(client.query('select 1 / $1::int', [0])).rejects.toMatchObject({ code: '22012' })
    await client.query('drop table if exists kept; create table kept (text text)')
    for (const [text, end] of [['undone', 'rollback'] as const, ['done', 'commit'] as const]) {
      await client.query('begin')
      await client.query('insert into kept values ($1)', [text])
      await client.query(end)
    }
    expect(await stage.engine.query('select text from kept')).toMatchObject({ rows: [{ text: 'done' }] })
    const long = 'x'.repeat(3_000_000)
    expect((await client.query('select $1::text as long', [long])).rows).toEqual([{ long }])
  })

  it('nobody comes between the statements of a transaction, nor the holder itself', async () => {
    const stage = stages.ample
    const [first, second] = [await stage.client(), await stage.client()]
    await first.query('create table steps (place serial, by text)')
    const step = 'insert into steps (by) values ($1)'
    await first.query('begin')
    const others = [second.query(step, ['second']), stage.engine.query(step, ['holder'])]
    for (let times = 0; times < 5; times += 1) await first.query(step, ['first'])
    await first.query('commit')
    await Promise.all(others)
    const { rows } = await first.query('select by from steps order by place')
    const by = rows.map((row: { readonly by: string }) => row.by)
    expect(by.slice(0, 5)).toEqual(['first', 'first', 'first', 'first', 'first'])
    expect(by.slice(5).toSorted()).toEqual(['holder', 'second'])
  })

  it('the messages of one statement may come in any number of pieces, and others are served between', async () => {
    const stage = stages.ample
    const [slow, client] = [stage.visitor(), await stage.client()]
    await letIn(slow)
    const answer = heard(slow, isReady)
    for (const byte of Buffer.concat([...asked("select 'slow'")])) {
      slow.write(Buffer.from([byte]))
      if (byte === 0) expect(await client.query(select)).toMatchObject(one)
    }
    expect(await answer).toBe('1 2 T D(slow) C ZI')
  })

  it('two statements sent at once are answered one after the other', async () => {
    const stage = stages.ample
    const visitor = stage.visitor()
    await letIn(visitor)
    visitor.write(Buffer.concat([...asked("select 'a'"), ...asked('select nothing'), ...asked("select 'b'")]))
    expect(await heard(visitor, (answer) => answer.includes('D(b) C ZI'))).toBe(
      '1 2 T D(a) C ZI E(42703) ZI 1 2 T D(b) C ZI',
    )
  })

  it('who leaves in a transaction is rolled back, and the next is served', async () => {
    const stage = stages.ample
    await stage.engine.query('create table left_open (text text)')
    for (const leave of [
      (v: { destroy(): void }) => v.destroy(),
      (v: { write(b: Buffer): void }) => v.write(wire('X')),
    ]) {
      const visitor = stage.visitor()
      await letIn(visitor)
      const answer = heard(visitor, (said) => said.endsWith('ZT'))
      visitor.write(wire('Q', "begin; insert into left_open values ('left')\0"))
      await answer
      const waiting = stage.engine.query('select * from left_open')
      leave(visitor)
      expect(await waiting).toMatchObject({ rows: [] })
    }
  })

  it('who leaves its transaction or its answer lying while others wait is shown out', async () => {
    await using stage = await doorOn(temporaryFolder(), { patienceMs: 1_500 })
    const [idle, client] = [stage.visitor(), await stage.client()]
    await letIn(idle)
    const said = heard(idle)
    idle.write(wire('Q', 'begin\0'))
    expect(await said).toBe('C ZT E(25P03)')
    expect(await client.query(select)).toMatchObject(one)
    const deaf = stage.visitor()
    await letIn(deaf)
    deaf.pause()
    const gone = new Promise((resolve) => deaf.once('close', resolve))
    deaf.write(wire('Q', "begin; select repeat('x', 20000000)\0"))
    expect(await client.query(select)).toMatchObject(one)
    deaf.resume()
    await gone
  })

  it.each([
    ['a statement with a name', wire('P', 'mine\0', 'select 1\0', Buffer.alloc(2)), '0A000'],
    ['a portal with a name', wire('B', 'mine\0\0', Buffer.alloc(6)), '0A000'],
    ['a statement of before', wire('B', '\0\0', Buffer.alloc(6)), '0A000'],
    ['a flush', wire('H'), '0A000'],
    ['a call of a function', wire('F', Buffer.alloc(10)), '08P01'],
    ['a type nobody knows', wire('!', 'x'), '08P01'],
    ['a message shorter than its length', Buffer.from([0x51, 0, 0, 0, 3]), '08P01'],
    ['a message of a negative length', Buffer.from([0x51, 0xff, 0xff, 0xff, 0xff]), '08P01'],
    ['a message that is too long', Buffer.from([0x51, 0x7f, 0xff, 0xff, 0xff]), '54000'],
    ['many messages that are too long together', Buffer.alloc(200_000, wire('D', 'P\0')), '54000'],
    [
      'a second statement before the end of the first',
      Buffer.concat([...asked(select).slice(0, -1), wire('D', 'P\0')]),
      '0A000',
    ],
  ])('%s ends that visit and no other', async (_, said, state) => {
    const stage = stages.strict
    const [visitor, client] = [stage.visitor(), await stage.client()]
    await letIn(visitor)
    const answer = heard(visitor)
    visitor.write(said)
    expect(await answer).toBe(`E(${state})`)
    expect(await client.query(select)).toMatchObject(one)
  })

  it.each([
    ['in a query', [wire('Q', 'copy kept from stdin\0')]],
    ['in the extended protocol', asked('copy kept from stdin')],
  ])('a COPY from the client fails %s, and harms nobody', async (_, said) => {
    const stage = stages.ample
    const [visitor, client] = [stage.visitor(), await stage.client()]
    await client.query('drop table if exists kept; create table kept (text text)')
    await letIn(visitor)
    for (const time of ['once', 'twice']) {
      const answer = heard(visitor, isReady)
      visitor.write(Buffer.concat([...said, wire('d', 'row\n'), wire('c')]))
      expect(await answer, time).toMatch(/E\(57014\) ZI$/)
    }
    expect(await client.query('select * from kept')).toMatchObject({ rows: [] })
  })

  it('whoever asks for encryption first, or to cancel, or in another version is answered', async () => {
    const stage = stages.ample
    const visitor = stage.visitor()
    for (const question of [80_877_103, 80_877_104]) {
      const said = new Promise((resolve) => visitor.once('data', (chunk: Buffer) => resolve(chunk.toString())))
      visitor.write(startup(question))
      expect(await said).toBe('N')
    }
    await letIn(visitor)
    const cancelling = stage.visitor()
    const nothing = heard(cancelling)
    cancelling.write(startup(80_877_102))
    expect(await nothing).toBe('')
    const old = stage.visitor()
    const refused = heard(old)
    old.write(startup(2 << 16))
    expect(await refused).toBe('E(08P01)')
    const newer = stage.visitor()
    const answer = heard(newer, isReady)
    newer.write(startup((3 << 16) + 2))
    expect(await answer).toMatch(/^v R S .*ZI$/)
  })

  it('one visitor too many is told so', async () => {
    await using stage = await doorOn(temporaryFolder(), { mostVisitors: 2 })
    await stage.client()
    await stage.client()
    expect(await heard(stage.visitor())).toBe('E(53300)')
  })

  it('no nonsense harms the engine', async () => {
    const stage = stages.strict
    const client = await stage.client()
    const body = fc.uint8Array({ maxLength: 40 }).map((bytes) => Buffer.from(bytes))
    const message = fc
      .tuple(fc.constantFrom('P', 'B', 'D', 'E', 'C', 'Q', 'S', 'd', 'c', 'f'), body)
      .map(([type, bytes]) =>
        // The names are left out, or it would never come further than that.
        wire(type, /[PBE]/.test(type) ? '\0\0' : /[DC]/.test(type) ? 'S\0' : '', bytes),
      )
    const nonsense = fc.oneof(
      { weight: 5, arbitrary: fc.array(message, { maxLength: 6 }) },
      { weight: 1, arbitrary: fc.array(body) },
    )
    const begin = fc.boolean()
    await fc.assert(
      fc.asyncProperty(nonsense, begin, async (parts, isLetIn) => {
        const visitor = stage.visitor()
        if (isLetIn) await letIn(visitor)
        const gone = heard(visitor)
        visitor.end(Buffer.concat([...parts, wire('S'), wire('X')]))
        await gone
        expect(await client.query('select $1::int as one', [1])).toMatchObject(one)
      }),
      { numRuns: Number(process.env.DOOR_FUZZ ?? 150), seed: 20_261_117 },
    )
  })
})

describe.skipIf(process.platform === 'win32')('the place of a door', () => {
  const token = 'aaaaaaaa-0000-4000-8000-000000000000'
  const modeOf = (path: string): number => statSync(path).mode & 0o777

  const withEnvironment = async <T>(name: string, value: string, work: () => Promise<T>): Promise<T> => {
    const before = process.env[name]
    process.env[name] = value
    try {
      return await work()
    } finally {
      if (before === undefined) delete process.env[name]
      else process.env[name] = before
    }
  }

  it('is in the folder, and its owner’s alone whatever the umask', async () => {
    const folder = temporaryFolder()
    const before = process.umask(0)
    const door = await openDoor(folder, token).finally(() => process.umask(before))
    expect(door?.address).toBe('door-aaaaaaaa/.s.PGSQL.5432')
    expect(modeOf(join(folder, 'door-aaaaaaaa'))).toBe(0o700)
    expect(modeOf(join(folder, door?.address ?? ''))).toBe(0o600)
    await door?.close()
    door?.remove()
    expect(readdirSync(folder)).toEqual([])
  })

  it('is in a private folder of the user where the path would be too long', async () => {
    const [folder, runtime] = [join(temporaryFolder(), 'long-name-'.repeat(12)), temporaryFolder()]
    mkdirSync(folder)
    await withEnvironment('XDG_RUNTIME_DIR', runtime, async () => {
      const door = await openDoor(folder, token)
      expect(door?.address).toBe(join(runtime, `batonpass-${process.getuid?.()}`, 'door-aaaaaaaa', '.s.PGSQL.5432'))
      expect(modeOf(dirname(dirname(door?.address ?? '')))).toBe(0o700)
      await door?.close()
      door?.remove()
      // Open to others, it is nobody's: they could put a socket of their own there.
      chmodSync(join(runtime, `batonpass-${process.getuid?.()}`), 0o755)
      expect(await openDoor(folder, token)).toBeUndefined()
    })
    expect(readdirSync(folder)).toEqual([])
  })

  it('is nowhere when something else is there', async () => {
    const folder = temporaryFolder()
    mkdirSync(join(folder, 'door-aaaaaaaa'))
    expect(await openDoor(folder, token)).toBeUndefined()
  })
})
