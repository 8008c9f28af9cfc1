import { execFileSync } from 'node:child_process'
import { chmodSync, mkdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { hidingSecrets, secretsIn } from '../../src/adapters/doctor/report-secrets.ts'
import { type AskHealth, serviceRuns } from '../../src/adapters/doctor/service-check.ts'
import { spooledEvents } from '../../src/adapters/doctor/spool-check.ts'
import { configurationFile, leftovers } from '../../src/adapters/doctor/surroundings.ts'
import { readConfiguration } from '../../src/main/configuration.ts'
import type { Finding } from '../../src/ports/system/health-check.ts'
import { bootId, readProcess } from '../../src/processes/process-table.ts'
import { examine } from '../../src/services/doctor/examination.ts'
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

  it('names what nobody can read in it', async () => {
    const made = folder()
    const [pipe, inner, link] = ['p.json', 'f.json', 'l.json'].map((name) => join(made, 'spool', name)) as [
      string,
      string,
      string,
    ]
    mkdirSync(inner, { recursive: true })
    execFileSync('mkfifo', [pipe])
    symlinkSync(join(made, 'nowhere'), link)
    const found = await spooledEvents(made)
    expect(results(found)).toEqual(['warning', 'warning', 'warning'])
    for (const path of [pipe, inner, link])
      expect(found.map(({ text }) => text).join()).toContain(`${path} is skipped: it is not a plain file`)
  })
})

describe('the service', () => {
  const answers =
    (pid: number): AskHealth =>
    async () => ({ pid })
  const nobody: AskHealth = async () => undefined
  const silent: AskHealth = () => Promise.reject(new Error('no answer'))
  const { pid } = process
  const named = {
    ...{ v: 2, pid, bootId: bootId() ?? '', startTime: readProcess(pid)?.startTime ?? null },
    ...{ socket: 'service/a.sock', address: null, program: '1.0.0' },
  }

  it('runs, or there is none', async () => {
    const made = folder()
    expect(results(await serviceRuns(made, '1.0.0', nobody))).toEqual(['ok'])
    write(join(made, 'service.json'), named)
    expect(await serviceRuns(made, '1.0.0', answers(pid))).toMatchObject([
      { result: 'ok', text: expect.stringContaining(join(made, 'service/a.sock')) },
    ])
    expect(await serviceRuns(made, '2.0.0', answers(pid))).toMatchObject([
      { result: 'warning', text: expect.stringContaining('is Batonpass 1.0.0') },
    ])
  })

  it('that has ended has left its file, also where another process has its number by now', async () => {
    const made = folder()
    const ended = { result: 'warning', text: expect.stringContaining('has ended and left') }
    write(join(made, 'service.json'), { ...named, pid: endedPid() })
    expect(await serviceRuns(made, '1', nobody)).toMatchObject([ended])
    for (const other of [{ startTime: '1' }, { bootId: 'another' }]) {
      write(join(made, 'service.json'), { ...named, ...other })
      expect(await serviceRuns(made, '1', silent)).toMatchObject([ended])
    }
    write(join(made, 'service.json'), named)
    expect(await serviceRuns(made, '1', silent)).toMatchObject([{ result: 'problem' }])
    expect(await serviceRuns(made, '1', answers(1))).toMatchObject([ended])
  })

  it('of an older version is not asked', async () => {
    const made = folder()
    write(join(made, 'service.json'), { v: 1, pid, port: 9, program: '0.1.0' })
    expect(await serviceRuns(made, '1', answers(pid))).toMatchObject([
      { result: 'warning', text: expect.stringContaining('Batonpass 0.1.0, which is not asked') },
    ])
  })

  it.each([
    '',
    '{}',
    '[]',
    '{"v": 2, "pid": "1", "socket": "s"}',
    '{"v": 2, "pid": 1, "address": {"port": 70000}}',
    '\u0000',
  ])('of which the file says %j is unknown', async (text) => {
    const made = folder()
    write(join(made, 'service.json'), text)
    expect(await serviceRuns(made, '1', nobody)).toMatchObject([
      { result: 'warning', text: expect.stringContaining('is of no use') },
    ])
  })

  it('has a token for its owner alone, which is never shown', async () => {
    const made = folder()
    const path = write(join(made, 'service.token'), 'ab'.repeat(32))
    expect(results(await serviceRuns(made, '1', nobody))).toEqual(['ok'])
    chmodSync(path, 0o644)
    const found = await serviceRuns(made, '1', nobody)
    expect(results(found)).toEqual(['ok', 'problem'])
    expect(JSON.stringify(found)).not.toContain('abab')
  })
})

describe('leftovers', () => {
  it('are named once they are old, but for the pulse of the lock', async () => {
    const made = folder()
    write(join(made, 'lock'), { pulse: 'pulse-1' })
    for (const name of ['data.new', 'pulse-1', 'pulse-2', 'lock.after-x', '.batonpass-new-x'])
      age(write(join(made, name), ''), 3_600_000)
    write(join(made, 'pulse-3'), '')
    const [found] = await leftovers(made)
    expect(found?.result).toBe('warning')
    for (const name of ['data.new', 'pulse-2', 'lock.after-x', '.batonpass-new-x']) expect(found?.text).toContain(name)
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
    const several = hidingSecrets(secretsIn('postgres://ada:h%40nter22@db:1,[::1]:2/x?sslkey=private'))
    for (const text of ['h@nter22 was wrong', 'h%40nter22', 'private']) expect(several(text)).toContain('***')
    expect(several('db:1 is away')).toBe('db:1 is away')
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
