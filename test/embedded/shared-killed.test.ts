import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it, onTestFinished } from 'vitest'
import { openPglite } from '../../src/adapters/postgres/embedded/open-pglite.ts'
import { foldHistory } from '../../src/domain/history/history.ts'
import { withholdTexts } from '../../src/domain/kernel/texts.ts'
import type { Store } from '../../src/ports/store/store.ts'
import { ReadBack } from '../cases/read-back.ts'
import { bundle } from '../support/bundle.ts'
import { type Child, startChild } from './child-process.ts'
import { makeStore } from './made-store.ts'
import { contentsOf, temporaryFolder } from './temporary-folder.ts'

/** A few with every run; `npm run test:share` for twenty processes and two minutes. */
const PROCESSES = Number(process.env.SHARERS ?? 4)
const KILLS = Number(process.env.SHARE_KILLS ?? 3)
const SECONDS = Number(process.env.SHARE_SECONDS ?? 0)
/** How long a holder may hold before it is killed. */
const EVERY_MS = Number(process.env.SHARE_EVERY_MS ?? 500)

const SHARER = fileURLToPath(new URL('sharer.ts', import.meta.url))

const wait = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

/** One process, and what it was told. */
interface Sharer {
  readonly name: number
  readonly child: Child
  readonly acknowledged: number[]
  readonly failures: string[]
  longestMs: number
  conversation?: string
  isKilled: boolean
}

const seen = { seconds: 0, kills: 0, holders: 0, acknowledged: 0, longestMs: 0, failures: 0 }
const sharers: Sharer[] = []

const note = (sharer: Sharer): void => {
  for (const line of sharer.child.heard()) {
    const [word, first = '', second = '0'] = line.split(' ')
    if (word === 'step') {
      sharer.acknowledged.push(Number(first))
      sharer.longestMs = Math.max(sharer.longestMs, Number(second))
    } else if (word === 'opened') sharer.conversation = first
    else if (word === 'failed') sharer.failures.push(line)
  }
}

let names = 0

const startOne = async (program: string, dataDir: string): Promise<void> => {
  names += 1
  const name = names
  const child = await startChild(program, [dataDir, String(name)])
  sharers.push({ name, child, acknowledged: [], failures: [], longestMs: 0, isKilled: false })
  child.say('begin')
}

const running = (): readonly Sharer[] => sharers.filter(({ isKilled }) => !isKilled)

const holderPid = (dataDir: string): number | undefined => {
  const lock = join(dataDir, 'lock')
  try {
    return existsSync(lock) ? (JSON.parse(readFileSync(lock, 'utf8')) as { pid: number }).pid : undefined
  } catch {
    return undefined // it changes hands
  }
}

/**
 * Waits until so many of those who run have got on since, and answers with who has the folder. However slow the machine
 * is, that is all that is asked.
 */
const untilGotOn = async (dataDir: string, least: number): Promise<Sharer> => {
  const before = new Map(running().map((sharer) => [sharer, sharer.acknowledged.length]))
  const isOn = (sharer: Sharer): boolean => sharer.acknowledged.length > (before.get(sharer) ?? 0)
  for (;;) {
    await wait(20)
    for (const sharer of running()) {
      note(sharer)
      if (sharer.failures.length > 0) throw new Error(`${sharer.name}: ${sharer.failures.join()}`)
    }
    const holder = running().find(({ child }) => child.pid === holderPid(dataDir))
    if (holder !== undefined && running().filter(isOn).length >= least) return holder
  }
}

/** Everything acknowledged is there once, in order, and the stored state is what its history adds up to. */
const judge = async (store: Store, { name, acknowledged, isKilled }: Sharer): Promise<void> => {
  const kept = new ReadBack(store)
  const conversation = await store.conversations.findByExternalKey(`sharer-${name}`)
  if (conversation === undefined) return expect(acknowledged).toEqual([])
  const sessions = await kept.sessions(conversation.id)
  const audit = await kept.audit(conversation.id)
  expect(audit.map(({ position }) => position)).toEqual(audit.map((_, index) => index + 1))
  expect([...foldHistory(audit.map(({ event }) => event)).sessions.values()]).toEqual(sessions.map(withholdTexts))
  const steps = (await kept.messages(conversation.id)).map(({ text }) => Number(/^Step (\d+) of /.exec(text)?.[1]))
  expect(steps).toEqual(steps.map((_, index) => index + 2))
  expect(acknowledged).toEqual(acknowledged.map((_, index) => index + 2))
  // Only of one that was killed may a step be kept whose acknowledgement died with it.
  expect(steps.length - acknowledged.length).toBeGreaterThanOrEqual(0)
  expect(steps.length - acknowledged.length).toBeLessThanOrEqual(isKilled ? 1 : 0)
}

describe.skipIf(process.platform === 'win32')('processes that share a folder', () => {
  it(`${PROCESSES} of them, whose holder is killed again and again: nothing is lost or doubled, nobody is locked out`, async () => {
    const dataDir = join(temporaryFolder(), 'store')
    await makeStore(dataDir)
    const cache = mkdtempSync(join('node_modules', '.sharer-'))
    onTestFinished(() => rmSync(cache, { recursive: true, force: true, maxRetries: 10 }))
    const program = await bundle(SHARER, cache, ['@electric-sql/pglite'])
    const starting = Array.from({ length: PROCESSES }, () => startOne(program, dataDir))
    await Promise.all(starting)
    await untilGotOn(dataDir, PROCESSES)
    const begun = Date.now()
    const end = begun + SECONDS * 1000
    const pids = new Set<number>()
    while (seen.kills < KILLS || Date.now() < end) {
      // The folder is served again when anybody has got on.
      const holder = await untilGotOn(dataDir, 1)
      await wait(EVERY_MS * (0.5 + Math.random()))
      pids.add(holder.child.pid)
      holder.isKilled = true
      await holder.child.kill()
      note(holder)
      seen.kills += 1
      // Another in its place, without waiting for it.
      starting.push(startOne(program, dataDir))
    }
    seen.seconds = Math.round((Date.now() - begun) / 1000)
    await Promise.all(starting)
    await untilGotOn(dataDir, PROCESSES)
    const last = running()
    for (const { child } of last) child.say('stop')
    await Promise.all(last.map(({ child }) => child.ended))
    for (const sharer of last) note(sharer)
    expect(contentsOf(dataDir).filter((name) => !name.startsWith('lock.new-'))).toEqual(['data'])
    await using store = await openPglite({ dataDir })
    for (const sharer of sharers) await judge(store, sharer)
    seen.holders = pids.size
    seen.acknowledged = sharers.reduce((sum, { acknowledged }) => sum + acknowledged.length, 0)
    seen.longestMs = Math.max(...sharers.map(({ longestMs }) => longestMs))
    seen.failures = sharers.reduce((sum, { failures }) => sum + failures.length, 0)
    console.log(`${sharers.length} processes: ${JSON.stringify(seen)}`)
    expect(seen.failures).toBe(0)
    expect(pids.size).toBe(seen.kills)
  }, 0)
})
