import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  chownSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { request } from 'node:http'
import { connect, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { askRunningService } from '../../src/adapters/hook-client/ask-service.ts'
import { NotOwn, serve } from '../../src/main/serve.ts'
import { ServiceStage } from './stage.ts'

const NOBODY = 65_534

const folder = (name = ''): string => {
  const made = mkdtempSync(join(tmpdir(), 'doors-'))
  onTestFinished(() => rmSync(made, { recursive: true, force: true, maxRetries: 10 }))
  if (name !== '') mkdirSync(join(made, name), { mode: 0o700 })
  return join(made, name)
}

const addressIn = (dir: string) => JSON.parse(readFileSync(join(dir, 'service.json'), 'utf8'))

const mode = (path: string): number => lstatSync(path).mode & 0o777

/** A request over the socket, with these headers. */
const over = (socketPath: string, path: string, headers: Readonly<Record<string, string>> = {}): Promise<number> =>
  new Promise((resolve, reject) => {
    request({ socketPath, path, headers, agent: false }, (answer) => {
      answer.resume()
      answer.on('end', () => resolve(answer.statusCode ?? 0))
    })
      .on('error', reject)
      .end()
  })

describe('the doors of a service', () => {
  it('are a socket for its owner alone, and no port unless one is asked for', async () => {
    const dir = folder()
    const service = await serve({ folder: dir, store: 'memory' })
    const { socket = '' } = service
    expect(service.port).toBeUndefined()
    expect(addressIn(dir)).toMatchObject({ v: 2, address: null, startTime: expect.any(String) })
    expect(addressIn(dir)).not.toHaveProperty('port')
    expect([mode(dirname(socket)), mode(socket)]).toEqual([0o700, 0o600])
    const ss = readFileSync('/proc/net/tcp', 'utf8') + readFileSync('/proc/net/tcp6', 'utf8')
    const inodes = readdirSync('/proc/self/fd').flatMap((fd) => socketInode(fd))
    expect(inodes.filter((inode) => new RegExp(` 0A .* ${inode} `).test(ss))).toEqual([])
    expect((await askRunningService(dir, { method: 'GET', path: '/health' }))?.json).toMatchObject({ pid: process.pid })
    await service.stop()
    expect([existsSync(socket), existsSync(join(dir, 'service.json'))]).toEqual([false, false])
  })

  it('let curl in over the socket with the token, and no page', async () => {
    await using stage = await ServiceStage.open({ folder: folder() })
    const socket = stage.service.socket ?? ''
    const authorization = `Bearer ${stage.master}`
    for (const host of ['localhost', '127.0.0.1'])
      expect(await over(socket, '/sessions', { host, authorization })).toBe(200)
    expect(await over(socket, '/sessions', { host: 'localhost' })).toBe(401)
    expect(await over(socket, '/sessions', { host: 'evil.example', authorization })).toBe(421)
    expect(await over(socket, '/health', { host: 'localhost', origin: 'http://localhost' })).toBe(403)
    // Nobody needs a proof there, and one for no port could be taken for one of any.
    expect(await over(socket, `/proof?nonce=${'a'.repeat(64)}`, { host: 'localhost' })).toBe(400)
  })

  it('are in a short private folder where the path is too long, which is gone afterwards, also after a kill', async () => {
    const dir = folder('x'.repeat(100))
    const first = await serve({ folder: dir, store: 'memory' })
    const { socket = '' } = first
    expect(addressIn(dir).socket).toBe(socket)
    expect(Buffer.byteLength(socket)).toBeLessThanOrEqual(107)
    expect([mode(dirname(socket)), mode(socket)]).toEqual([0o700, 0o600])
    expect((await askRunningService(dir, { method: 'GET', path: '/health' }))?.status).toBe(200)
    await first.stop()
    expect(existsSync(dirname(socket))).toBe(false)
    // As a service leaves it that was killed.
    const left = mkdtempSync(join(tmpdir(), 'baton-'))
    const said = { v: 2, pid: 1, bootId: '', startTime: null, socket: join(left, 'a.sock'), address: null }
    writeFileSync(join(dir, 'service.json'), JSON.stringify({ ...said, startedAt: '', program: '' }), { mode: 0o600 })
    writeFileSync(join(dir, 'service', 'service-00000000.sock'), '')
    const second = await serve({ folder: dir, store: 'memory' })
    expect([existsSync(left), readdirSync(join(dir, 'service')).filter((name) => name.endsWith('.sock'))]).toEqual([
      false,
      [],
    ])
    await second.stop()
  })

  it('of two services on one folder that was taken away and made again are not each other’s', async () => {
    const dir = folder('gone')
    const first = await serve({ folder: dir, store: 'memory' })
    rmSync(dir, { recursive: true })
    mkdirSync(dir, { mode: 0o700 })
    const second = await serve({ folder: dir, store: 'memory' })
    await first.stop()
    expect((await askRunningService(dir, { method: 'GET', path: '/health' }))?.status).toBe(200)
    await second.stop()
  })
})

/** The inode of a socket that this process has open. */
const socketInode = (fd: string): readonly string[] => {
  try {
    const [, inode] = /socket:\[(\d+)\]/.exec(readlinkSync(`/proc/self/fd/${fd}`)) ?? []
    return inode === undefined ? [] : [inode]
  } catch {
    return []
  }
}

describe('a folder', () => {
  const refused = async (dir: string): Promise<unknown> =>
    serve({ folder: dir, store: 'memory' }).then(
      async (service) => service.stop().then(() => 'it was served'),
      (error: unknown) => error,
    )

  it('of another user is not served, and nothing in it is touched', async () => {
    const dir = folder()
    writeFileSync(join(dir, 'service.token'), 'ab'.repeat(32), { mode: 0o644 })
    // Nobody but root can give files away; for the others somebody else is whoever they are not.
    const { getuid } = process
    const me = getuid?.() ?? 0
    if (me === 0) for (const path of [dir, join(dir, 'service.token')]) chownSync(path, NOBODY, NOBODY)
    else process.getuid = () => me + 1
    try {
      const failure = await refused(dir)
      expect(failure).toBeInstanceOf(NotOwn)
      expect(failure).toMatchObject({ message: expect.stringContaining('belongs to another user') })
      expect(readdirSync(dir)).toEqual(['service.token'])
    } finally {
      if (getuid !== undefined) process.getuid = getuid
    }
  })

  it('that others may write to is not served', async () => {
    const dir = folder()
    chmodSync(dir, 0o777)
    expect(await refused(dir)).toMatchObject({ message: expect.stringContaining('may be written to by other users') })
    expect(readdirSync(dir)).toEqual([])
  })

  it('with a token that is a link, a pipe or open to the pens of others is not served', async () => {
    const secret = join(folder(), 'secret')
    writeFileSync(secret, 'cd'.repeat(32), { mode: 0o600 })
    const plants: readonly ((path: string) => void)[] = [
      (path) => symlinkSync(secret, path),
      (path) => execFileSync('mkfifo', [path]),
      (path) => {
        writeFileSync(path, 'ab'.repeat(32))
        chmodSync(path, 0o666)
      },
    ]
    for (const plant of plants) {
      const dir = folder()
      plant(join(dir, 'service.token'))
      expect(await refused(dir)).toBeInstanceOf(NotOwn)
    }
  })
})

describe('connections without a token', () => {
  const opened = async (at: number | string): Promise<Socket> => {
    const socket = typeof at === 'number' ? connect(at, '127.0.0.1') : connect(at)
    socket.on('error', () => {})
    onTestFinished(() => void socket.destroy())
    await new Promise((resolve) => socket.once('connect', resolve))
    return socket
  }
  const closed = (socket: Socket): Promise<void> =>
    new Promise((resolve) => socket.resume().once('close', () => resolve()))
  const answerOf = (socket: Socket): Promise<string> =>
    new Promise((resolve) => socket.once('data', (part) => resolve(part.toString())))

  it('end by themselves, whatever they send, and those with one stay', async () => {
    await using stage = await ServiceStage.open({ folder: folder(), strangers: { most: 8, ms: 300 } })
    const { port } = stage
    const host = `host: 127.0.0.1:${port}\r\n`
    const owner = await opened(port)
    owner.write(`POST /sessions HTTP/1.1\r\n${host}authorization: Bearer ${stage.master}\r\n`)
    owner.write('content-type: application/json\r\ncontent-length: 2\r\n\r\n{')
    const mine = await opened(stage.service.socket ?? '')
    mine.write('GET /health HTTP/1.1\r\nho')
    const strangers = await Promise.all(Array.from({ length: 4 }, () => opened(port)))
    const ends = strangers.map(closed)
    strangers[1]?.write(`GET /health HTTP/1.1\r\n${host}\r\n`)
    strangers[2]?.write(`GET /proof?nonce=${'a'.repeat(64)} HTTP/1.1\r\n${host}\r\n`)
    strangers[3]?.write(`POST /hooks/events HTTP/1.1\r\n${host}authorization: Bearer ${'0'.repeat(64)}\r\ncontent-`)
    await Promise.all(ends)
    const answers = [answerOf(owner), answerOf(mine)]
    owner.write('}')
    mine.write('st: localhost\r\n\r\n')
    expect((await Promise.all(answers)).map((text) => text.split('\r\n')[0])).toEqual([
      'HTTP/1.1 400 Bad Request',
      'HTTP/1.1 200 OK',
    ])
  })

  it('are few: the oldest goes when one more comes, and none of them keeps the owner away', async () => {
    await using stage = await ServiceStage.open({ folder: folder(), strangers: { most: 3, ms: 3_600_000 } })
    const first = await opened(stage.port)
    const gone = closed(first)
    const others = [await opened(stage.port), await opened(stage.port), await opened(stage.port)]
    await gone
    expect(others.map(({ destroyed }) => destroyed)).toEqual([false, false, false])
    expect((await stage.ask('GET', '/sessions')).status).toBe(200)
  })
})
