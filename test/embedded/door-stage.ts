import { randomUUID } from 'node:crypto'
import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import { PGlite } from '@electric-sql/pglite'
import pg from 'pg'
import { type DoorLimits, openDoor } from '../../src/adapters/postgres/embedded/door/door.ts'
import { guardSpace } from '../../src/adapters/postgres/embedded/pglite-space.ts'
import { servedAt } from '../../src/adapters/postgres/embedded/shared-folder.ts'
import { dump } from './made-store.ts'

/** Limits for tests that are about something else. */
const AMPLE: DoorLimits = { mostBytes: 2 ** 24, patienceMs: 60_000, mostVisitors: 100 }

/** An engine in memory that is served at a door. */
export const doorOn = async (folder: string, limits: Partial<DoorLimits> = {}) => {
  const door = await openDoor(folder, randomUUID(), { ...AMPLE, ...limits })
  if (door === undefined) throw new Error('No door can be made here')
  const pglite = await PGlite.create({ loadDataDir: dump() })
  const engine = await servedAt(door, guardSpace(pglite, folder))
  const socket = join(folder, door.address)
  const clients: pg.Client[] = []
  const visitors: Socket[] = []
  return {
    socket,
    engine,
    /** A visitor as the store has it. */
    client: async (): Promise<pg.Client> => {
      const [host = ''] = [join(socket, '..')]
      const client = new pg.Client({ host, port: 5432, user: 'anybody', database: 'any', ssl: false })
      client.on('error', () => {})
      clients.push(client)
      await client.connect()
      return client
    },
    /** A visitor that speaks bytes. */
    visitor: (): Socket => {
      const visitor = connect(socket)
      visitor.on('error', () => {})
      visitors.push(visitor)
      return visitor
    },
    [Symbol.asyncDispose]: async () => {
      for (const visitor of visitors) visitor.destroy()
      await Promise.allSettled(clients.map((client) => client.end()))
      await door.close()
      door.remove()
      await engine.close()
    },
  }
}

export const wire = (type: string, ...parts: readonly (string | Buffer)[]): Buffer => {
  const body = Buffer.concat(parts.map((part) => Buffer.from(part)))
  const head = Buffer.alloc(5)
  head.write(type, 'latin1')
  head.writeInt32BE(body.length + 4, 1)
  return Buffer.concat([head, body])
}

const int32 = (...values: readonly number[]): Buffer => {
  const bytes = Buffer.alloc(values.length * 4)
  for (const [place, value] of values.entries()) bytes.writeInt32BE(value, place * 4)
  return bytes
}

/** The first message of a visitor: a version, or a question by its number. */
export const startup = (code = 196_608): Buffer => {
  const body = code === 196_608 ? Buffer.from('user\0anybody\0\0') : Buffer.alloc(0)
  return Buffer.concat([int32(8 + body.length, code), body])
}

/** The messages that ask for one statement without parameters. */
export const asked = (sql: string): readonly Buffer[] => [
  wire('P', '\0', `${sql}\0`, Buffer.alloc(2)),
  wire('B', '\0\0', Buffer.alloc(6)),
  wire('D', 'P\0'),
  wire('E', '\0', Buffer.alloc(4)),
  wire('S'),
]

/** The types of the messages in an answer, and the words of failures. */
export const shown = (answer: Buffer): string => {
  const seen: string[] = []
  for (let at = 0; at + 5 <= answer.length; at += answer.readInt32BE(at + 1) + 1) {
    const type = String.fromCharCode(answer[at] ?? 0)
    const body = answer.subarray(at + 5, at + 1 + answer.readInt32BE(at + 1)).toString()
    if (type === 'E') seen.push(`E(${/C([\dA-Z]{5})\0/.exec(body)?.[1]})`)
    else if (type === 'Z') seen.push(`Z${body}`)
    else if (type === 'D') seen.push(`D(${body.slice(6)})`)
    else seen.push(type)
  }
  return seen.join(' ')
}

/** Reads until an answer is there that satisfies, or the visitor is shown out. */
export const heard = (visitor: Socket, isEnough: (answer: string) => boolean = () => false): Promise<string> =>
  new Promise((resolve) => {
    let all = Buffer.alloc(0)
    const finish = (): void => {
      visitor.removeAllListeners('data')
      resolve(shown(all))
    }
    visitor.on('data', (chunk: Buffer) => {
      all = Buffer.concat([all, chunk])
      if (isEnough(shown(all))) finish()
    })
    visitor.once('close', finish)
  })

/** Lets a visitor in by its first message. */
export const letIn = async (visitor: Socket): Promise<void> => {
  visitor.write(startup())
  await heard(visitor, (answer) => answer.endsWith('ZI'))
}
