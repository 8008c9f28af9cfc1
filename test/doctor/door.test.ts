import { chmodSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { configurationFile } from '../../src/adapters/doctor/configuration-file.ts'
import { hidingSecrets, secretsIn } from '../../src/adapters/doctor/hide-secrets.ts'
import { leftovers } from '../../src/adapters/doctor/leftovers.ts'
import { serviceRuns } from '../../src/adapters/doctor/service-check.ts'
import { spooledEvents } from '../../src/adapters/doctor/spool.ts'
import { readConfiguration } from '../../src/configuration.ts'
import type { Finding } from '../../src/ports/health-check.ts'
import { examine } from '../../src/services/doctor.ts'
import { endedPid } from '../embedded/planted-lock.ts'
import { age, folder, results, write } from './stage.ts'

describe('a configuration file', () => {
  it('is used, or its problems are listed with their repairs', async () => {
    const made = folder()
    const check = () => configurationFile(made, readConfiguration)
    expect(results(await check())).toEqual(['ok'])
    write(join(made, 'batonpass.yaml'), 'restart:\n  policy: auto\n')
    expect(await check()).toMatchObject([{ result: 'ok', text: 'batonpass.yaml can be used' }])
    write(join(made, 'batonpass.yaml'), 'restart:\n  polcy: auto\n')
    expect(await check()).toMatchObject([{ result: 'problem', text: expect.stringContaining('batonpass.yaml:2: ') }])
    write(join(made, 'batonpass.json'), '{}')
    expect(await check()).toMatchObject([{ result: 'problem', repair: 'Keep one of them.' }])
  })
})

describe('the spool', () => {
  it('is empty, on its way, late, or refused', async () => {
    const made = folder()
    expect(await spooledEvents(made)).toEqual([])
    const file = write(join(made, 'spool', 'a.json'), '{')
    expect(results(await spooledEvents(made))).toEqual(['ok'])
    age(file, 3_600_000)
    expect(await spooledEvents(made)).toMatchObject([
      { result: 'warning', text: expect.stringContaining('the oldest for 1 h') },
    ])
    write(join(made, 'spool', 'rejected', 'b.json'), '')
    expect(results(await spooledEvents(made))).toEqual(['warning', 'warning'])
  })
})

describe('the service', () => {
  const listening = async (answer: string): Promise<number> => {
    const server = createServer((_, response) => response.end(answer))
    onTestFinished(() => void server.close())
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    return (server.address() as AddressInfo).port
  }

  it('runs, or there is none', async () => {
    const made = folder()
    expect(results(await serviceRuns(made, '1.0.0'))).toEqual(['ok'])
    const port = await listening(JSON.stringify({ status: 'ok', pid: process.pid }))
    write(join(made, 'service.json'), { v: 1, pid: process.pid, port, program: '1.0.0' })
    expect(await serviceRuns(made, '1.0.0')).toMatchObject([
      { result: 'ok', text: expect.stringContaining(`port ${port}`) },
    ])
    expect(await serviceRuns(made, '2.0.0')).toMatchObject([
      { result: 'warning', text: expect.stringContaining('is Batonpass 1.0.0') },
    ])
  })

  it('that has ended, or whose port is another’s by now, has left its file', async () => {
    const made = folder()
    write(join(made, 'service.json'), { v: 1, pid: endedPid(), port: 1 })
    expect(await serviceRuns(made, '1')).toMatchObject([
      { result: 'warning', text: expect.stringContaining('has ended and left') },
    ])
    write(join(made, 'service.json'), { v: 1, pid: process.pid, port: await listening('hello') })
    expect(results(await serviceRuns(made, '1'))).toEqual(['warning'])
  })

  it.each(['', '{}', '[]', '{"pid": "1", "port": 2}', '{"pid": 1, "port": 70000}', '\u0000'])(
    'of which the file says %j is unknown',
    async (text) => {
      const made = folder()
      write(join(made, 'service.json'), text)
      expect(await serviceRuns(made, '1')).toMatchObject([
        { result: 'warning', text: expect.stringContaining('is of no use') },
      ])
    },
  )

  it('has a token for its owner alone, which is never shown', async () => {
    const made = folder()
    const path = write(join(made, 'service.token'), 'ab'.repeat(32))
    expect(results(await serviceRuns(made, '1'))).toEqual(['ok'])
    chmodSync(path, 0o644)
    const found = await serviceRuns(made, '1')
    expect(results(found)).toEqual(['ok', 'problem'])
    expect(JSON.stringify(found)).not.toContain('abab')
  })
})

describe('leftovers', () => {
  it('are named once they are old, but for the pulse of the lock', async () => {
    const made = folder()
    write(join(made, 'lock'), { pulse: 'pulse-1' })
    for (const name of ['data.new', 'pulse-1', 'pulse-2', 'lock.after-x']) age(write(join(made, name), ''), 3_600_000)
    write(join(made, 'pulse-3'), '')
    const [found] = await leftovers(made)
    expect(found?.result).toBe('warning')
    for (const name of ['data.new', 'pulse-2', 'lock.after-x']) expect(found?.text).toContain(name)
    for (const name of ['pulse-1', 'pulse-3']) expect(found?.text).not.toContain(name)
    expect(results(await leftovers(folder()))).toEqual(['ok'])
  })
})

describe('what is found', () => {
  it('hides every secret', () => {
    const hide = hidingSecrets(secretsIn('postgres://ada:h%40nter22@db/x?sslkey=private'))
    const token = 'ab'.repeat(32)
    for (const text of ['h@nter22 was wrong', 'h%40nter22', 'at postgres://bob:other@db/x', token, 'private'])
      expect(hide(text)).toContain('***')
    expect(hide('nothing to see')).toBe('nothing to see')
  })

  it('is a problem where a check breaks, and the next one is made', async () => {
    const checks = [
      { name: 'broken', run: () => Promise.reject(new Error('postgres://ada:hunter22@db/x is odd')) },
      { name: 'whole', run: async (): Promise<readonly Finding[]> => [{ result: 'ok', text: 'fine' }] },
    ]
    expect(await examine(checks, hidingSecrets([]))).toEqual([
      { check: 'broken', result: 'problem', text: 'This could not be looked at: postgres://ada:***@db/x is odd' },
      { check: 'whole', result: 'ok', text: 'fine' },
    ])
  })
})
