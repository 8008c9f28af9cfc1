import { execFileSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { chmodSync, existsSync, lstatSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { Spool } from '../../src/adapters/terminal/spooled-events.ts'
import { silentLogger } from '../../src/ports/system/logger.ts'
import { ServiceStage } from './stage.ts'

const folder = (): string => {
  const made = mkdtempSync(join(tmpdir(), 'hostile-spool-'))
  onTestFinished(() => rmSync(made, { recursive: true, force: true, maxRetries: 10 }))
  mkdirSync(join(made, 'spool'), { mode: 0o700 })
  return made
}

/** The name of a file that comes before or after others. */
const name = (first: string): string => `${first}${randomUUID().slice(1)}.json`

const started = (session: string): string =>
  JSON.stringify({
    ...{ v: 1, commandId: randomUUID(), event: 'session-start', runtime: 'claude' },
    payload: { session_id: session, source: 'startup' },
  })

it('what cannot be read in the spool is left where it is, named once, and holds nothing up', async () => {
  const dir = folder()
  const [pipe, inner, link, nowhere, open] = Array.from({ length: 5 }, () => join(dir, 'spool', name('0'))) as [
    string,
    string,
    string,
    string,
    string,
  ]
  const elsewhere = join(dir, 'elsewhere.json')
  writeFileSync(elsewhere, started('through-a-link'))
  execFileSync('mkfifo', [pipe])
  mkdirSync(inner)
  symlinkSync(elsewhere, link)
  symlinkSync(join(dir, 'none'), nowhere)
  writeFileSync(open, started('of-anybody'))
  chmodSync(open, 0o666)
  writeFileSync(join(dir, 'spool', name('f')), started('behind-them'))
  const told: unknown[] = []
  const logger = { ...silentLogger, warn: (facts: object) => void told.push(facts) }
  await using stage = await ServiceStage.open({ folder: dir, logger, idleMs: 200 })
  expect(await stage.store.sessions.findByProviderSession('behind-them')).toHaveLength(1)
  for (const session of ['through-a-link', 'of-anybody'])
    expect(await stage.store.sessions.findByProviderSession(session)).toEqual([])
  for (const path of [pipe, inner, link, nowhere, open]) {
    expect(lstatSync(path)).toBeDefined()
    expect(told.filter((facts) => (facts as { readonly path?: string }).path === path)).toHaveLength(1)
  }
  // Nor do they keep it from ending.
  await stage.service.ended
})

it('an event that fails by itself is tried again, and those behind it are taken', async () => {
  const dir = folder()
  const [bad, good] = [name('0'), name('f')]
  writeFileSync(join(dir, 'spool', bad), 'bad')
  writeFileSync(join(dir, 'spool', good), 'good')
  const taken: string[] = []
  const skipped: string[] = []
  const spool = new Spool(
    dir,
    async (text) => {
      taken.push(text)
      return text === 'bad' ? 'failed' : 'taken'
    },
    (path) => void skipped.push(path),
  )
  await spool.drain({ olderThanMs: 0 })
  await spool.drain({ olderThanMs: 0 })
  expect(taken).toEqual(['bad', 'good', 'bad'])
  expect(skipped).toEqual([join(dir, 'spool', bad)])
  expect([existsSync(join(dir, 'spool', bad)), existsSync(join(dir, 'spool', good))]).toEqual([true, false])
})

it('a store that does not answer ends it for now, so that nothing is taken out of order', async () => {
  const dir = folder()
  for (const first of ['0', 'f']) writeFileSync(join(dir, 'spool', name(first)), first)
  const taken: string[] = []
  const spool = new Spool(dir, async (text) => {
    taken.push(text)
    throw new Error('down')
  })
  await expect(spool.drain({ olderThanMs: 0 })).rejects.toThrow('down')
  expect(taken).toEqual(['0'])
})
