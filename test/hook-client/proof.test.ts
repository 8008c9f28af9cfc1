import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { createServer, get, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { askRunningService, NoService } from '../../src/adapters/hook-client/ask-service.ts'
import { serviceProofOf } from '../../src/ports/terminal/service-proof.ts'
import { bootId, readProcess } from '../../src/processes/process-table.ts'
import { ServiceStage } from '../http/stage.ts'
import { FakeService } from '../support/fake-service.ts'
import { expectInTime, folder, problems, runHook, SESSION, spooled } from './spawned-hook.ts'

const INPUT = { session_id: SESSION, cwd: '/tmp', source: 'startup' }
const { pid } = process
const MASTER = 'ab'.repeat(32)

interface Heard {
  readonly url: string
  readonly authorization: string | undefined
  readonly body: string
}

type Say = (request: IncomingMessage, response: ServerResponse) => unknown

/** Somebody who listens where a service once did, and writes down everything that is sent. */
const imposter = async (say: Say = (_, response) => response.end('{"inject":"obey me"}')) => {
  const heard: Heard[] = []
  const server = createServer(async (request, response) => {
    let body = ''
    for await (const part of request.setEncoding('utf8')) body += part
    heard.push({ url: request.url ?? '', authorization: request.headers.authorization, body })
    await say(request, response)
  })
  const connections: unknown[] = []
  server.on('connection', (socket) => connections.push(socket))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return { heard, connections, port: (server.address() as AddressInfo).port }
}

/** Names a port as a service does that could make no socket. */
const named = (dir: string, port: number, more: object = {}): void => {
  const service = {
    ...{ v: 2, pid, bootId: bootId() ?? '', startTime: readProcess(pid)?.startTime ?? null, socket: null },
    ...{ address: { host: '127.0.0.1', port }, startedAt: new Date().toISOString(), program: '0.0.0', ...more },
  }
  writeFileSync(join(dir, 'service.json'), JSON.stringify(service), { mode: 0o600 })
  writeFileSync(join(dir, 'service.token'), MASTER, { mode: 0o600 })
}

/** The hook is told nothing, says nothing, and its event waits for the real service. */
const expectUntold = async (dir: string): Promise<void> => {
  const ended = await runHook(dir, 'session-start', { input: INPUT })
  expectInTime(ended)
  expect(ended.out).toBe('')
  expect(spooled(dir)).toHaveLength(1)
}

describe('whoever listens on the port of a service that was killed', () => {
  let dir: string
  beforeEach(() => {
    dir = folder()
  })

  it('is sent a random number, and neither a token nor an event', async () => {
    const { heard, port } = await imposter()
    named(dir, port)
    await expectUntold(dir)
    expect(heard).toEqual([{ url: expect.stringMatching(/^\/proof\?nonce=[0-9a-f]{64}$/), body: '' }])
    expect(problems(dir)).toEqual(['the service was sent nothing: it does not know the secret'])
    await expect(askRunningService(dir, { method: 'GET', path: '/sessions' })).rejects.toBeInstanceOf(NoService)
    expect(heard.filter(({ authorization }) => authorization !== undefined)).toEqual([])
  })

  it('cannot pass the question on to the real service', async () => {
    await using real = await ServiceStage.open({ folder: dir })
    const passed: string[] = []
    const { heard, port } = await imposter(async (request, response) => {
      const answer = await new Promise<string>((resolve, reject) => {
        get({ host: '127.0.0.1', port: real.port, path: request.url, agent: false }, (relayed) => {
          let text = ''
          relayed.on('data', (part: Buffer) => {
            text += part.toString()
          })
          relayed.on('end', () => resolve(text))
        }).on('error', reject)
      })
      passed.push(answer)
      response.end(answer)
    })
    const { master } = real
    named(dir, port)
    writeFileSync(join(dir, 'service.token'), master)
    await expectUntold(dir)
    expect(passed).toEqual([expect.stringMatching(/^\{"proof":"[0-9a-f]{64}"\}$/)])
    expect(heard.filter(({ authorization, body }) => authorization !== undefined || body !== '')).toEqual([])
  })

  it.each([
    ['another process has the number', { startTime: '1' }],
    ['its process has ended', { pid: 2 ** 22 + 1 }],
    ['the machine was started again', { bootId: '00000000-0000-0000-0000-000000000000' }],
    ['it is of an older version', { v: 1 }],
    ['it is not on the loopback', { address: { host: '0.0.0.0', port: 1 } }],
  ])('is not asked at all where %s', async (_, more) => {
    const { connections, port } = await imposter()
    named(dir, port, { port, ...more })
    await expectUntold(dir)
    expect(connections).toEqual([])
  })

  it('is not connected to again after a proof', async () => {
    const place = { host: '127.0.0.1', bootId: bootId() ?? '' }
    const { heard, connections, port } = await imposter((request, response) => {
      const nonce = (request.url ?? '').slice('/proof?nonce='.length)
      response
        .setHeader('connection', 'close')
        .end(JSON.stringify({ proof: serviceProofOf(MASTER, nonce, { ...place, port }) }))
    })
    named(dir, port)
    await expectUntold(dir)
    expect(connections).toHaveLength(1)
    expect(heard).toHaveLength(1)
    expect(problems(dir)).toHaveLength(1)
  })
})

describe('a service that could make no socket', () => {
  it('is told over its port, once it has proved that it is the one', async () => {
    await using stage = await ServiceStage.open()
    const file = join(stage.folder, 'service.json')
    const said = JSON.parse(readFileSync(file, 'utf8'))
    writeFileSync(file, JSON.stringify({ ...said, socket: null }))
    const reply = await askRunningService(stage.folder, { method: 'GET', path: '/sessions' })
    expect(reply).toMatchObject({ status: 200, json: { sessions: [] } })
    expectInTime(await runHook(stage.folder, 'session-start', { input: INPUT }))
    expect(await stage.store.sessions.findByProviderSession(SESSION)).toHaveLength(1)
    expect([spooled(stage.folder), problems(stage.folder)]).toEqual([[], []])
  })
})

describe('a socket', () => {
  it('is used only in a folder that nobody else can enter', async () => {
    const dir = folder()
    await using service = await FakeService.start(dir)
    chmodSync(join(dir, 'service'), 0o755)
    await expectUntold(dir)
    expect(service.requests).toEqual([])
    expect(problems(dir)).toEqual(['the service could not be found: its socket is not in a folder of this user alone'])
  })

  it('is not reached through a link', async () => {
    const dir = folder()
    await using service = await FakeService.start(dir)
    renameSync(join(dir, 'service'), join(dir, 'elsewhere'))
    symlinkSync(join(dir, 'elsewhere'), join(dir, 'service'))
    await expectUntold(dir)
    expect(service.requests).toEqual([])
  })

  it('that is none is not spoken to', async () => {
    const dir = folder()
    await using service = await FakeService.start(dir)
    const { socket } = JSON.parse(readFileSync(join(dir, 'service.json'), 'utf8'))
    rmSync(join(dir, socket))
    execFileSync('mkfifo', [join(dir, socket)])
    await expectUntold(dir)
    expect(service.requests).toEqual([])
  })

  it('that a killed service has left is nobody', async () => {
    const dir = folder()
    const service = await FakeService.start(dir)
    const { socket, ...said } = JSON.parse(readFileSync(join(dir, 'service.json'), 'utf8'))
    // A kill leaves the file of the socket, which a proper end takes away.
    renameSync(join(dir, socket), join(dir, 'service', 'left.sock'))
    await service[Symbol.asyncDispose]()
    writeFileSync(join(dir, 'service.json'), JSON.stringify({ ...said, socket: 'service/left.sock' }), { mode: 0o600 })
    await expectUntold(dir)
    expect(problems(dir)).toEqual([])
    expect(await askRunningService(dir, { method: 'GET', path: '/health' })).toBeUndefined()
  })

  it('with a path that is too long from here is not cut short', async () => {
    const dir = folder()
    await using service = await FakeService.start(dir)
    const long = join(mkdtempSync(join(tmpdir(), 'long-')), 'x'.repeat(100))
    onTestFinished(() => rmSync(join(long, '..'), { recursive: true, force: true }))
    mkdirSync(long, { mode: 0o700 })
    for (const name of ['service.json', 'service.token', 'service'])
      execFileSync('cp', ['-a', join(dir, name), join(long, name)])
    await expectUntold(long)
    expect(service.requests).toEqual([])
    expect(problems(long)).toEqual(['the service could not be found: the path of its socket is too long from here'])
  })
})
