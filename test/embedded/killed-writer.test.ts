import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { openPglite } from '../../src/adapters/postgres/embedded/open-pglite.ts'
import { foldHistory } from '../../src/domain/history/history.ts'
import { withholdTexts } from '../../src/domain/kernel/texts.ts'
import type { Store } from '../../src/ports/store/store.ts'
import { everyItem, ReadBack } from '../cases/read-back.ts'
import { randomFrom } from '../races/jitter.ts'
import { type Child, startChild } from './child-process.ts'
import { contentsOf, temporaryFolder } from './temporary-folder.ts'

/** A few with every run; `npm run test:kill` for the hundred that prove it. */
const KILLS = Number(process.env.KILLS ?? 8)
/** So many are killed while the store is being made, over and over. */
const WHILE_MADE = Math.max(3, Math.floor(KILLS / 20))
const LOOK_EVERY = 5
/** A little fewer than there are when it is complete. */
const FILES_OF_A_DATABASE = 900
const SEED = 20_261_116

const random = randomFrom(SEED)
const upTo = (count: number): readonly number[] => Array.from({ length: count }, (_, n) => n + 1)
const wait = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

/** What was seen over all kills. */
const seen = { whileMade: 0, whileOpened: 0, whileWriting: 0, takenOver: 0, inDoubt: 0, acknowledged: 0, longestMs: 0 }

/** Waits until the making has come so far; by the clock it might not even have begun. */
const untilFiles = async (dataDir: string, count: number): Promise<void> => {
  const deadline = Date.now() + 60_000
  while (filesIn(dataDir) < count && Date.now() < deadline) await wait(3)
}

const filesIn = (folder: string): number => {
  try {
    return readdirSync(folder, { recursive: true }).length
  } catch {
    return 0 // it is not there yet, or changes while it is read
  }
}

/** Waits for a moment to kill in: somewhere in the making, in the opening, or after some turns. */
const momentFor = async (round: number, writer: Child, dataDir: string): Promise<void> => {
  if (round < WHILE_MADE) return untilFiles(dataDir, random() * FILES_OF_A_DATABASE)
  if (random() < 0.3) return wait(random() * 700)
  for (let lines = 1 + Math.floor(random() * 25); lines > 0; lines -= 1) await writer.hear()
  await wait(random() * 8)
}

const pidIn = (dataDir: string): number | undefined => {
  const path = join(dataDir, 'lock')
  return existsSync(path) ? (JSON.parse(readFileSync(path, 'utf8')) as { pid: number }).pid : undefined
}

/** Everything the writers were told is there, exactly once, and what is stored is what its history adds up to. */
const look = async (store: Store, acknowledged: number): Promise<void> => {
  const kept = new ReadBack(store)
  const conversation = await store.conversations.findByExternalKey('the killed writer')
  if (conversation === undefined) return expect(acknowledged).toBe(0)
  const sessions = await kept.sessions(conversation.id)
  expect(sessions.length).toBeLessThanOrEqual(1)
  const audit = await kept.audit(conversation.id)
  expect(audit.map(({ position }) => position)).toEqual(upTo(audit.length))
  const history = foldHistory(audit.map(({ event }) => event))
  expect([...history.sessions.values()]).toEqual(sessions.map(withholdTexts))
  const [session] = sessions
  if (session === undefined) return expect(acknowledged).toBe(0)
  const turns = await everyItem((page) => store.messages.listTurns(session.id, page))
  expect(turns.map(({ number }) => number)).toEqual(upTo(turns.length))
  expect(session.progress.turns).toBe(turns.length)
  const texts = (await kept.messages(conversation.id)).map(({ text }) => text)
  expect(texts).toEqual(upTo(turns.length).flatMap((number) => [`Ask ${number}`, `Answer ${number}`]))
  expect(turns.flatMap(({ toolCalls }) => toolCalls.map(({ callId }) => callId))).toEqual(
    upTo(turns.length).map((number) => `call-${number}`),
  )
  // One turn may be kept whose acknowledgement died with its writer; the next writer asks for it again.
  expect(turns.length - acknowledged).toBeGreaterThanOrEqual(0)
  expect(turns.length - acknowledged).toBeLessThanOrEqual(1)
}

const lookInto = async (dataDir: string, acknowledged: number): Promise<void> => {
  const begun = performance.now()
  await using store = await openPglite({ dataDir })
  seen.longestMs = Math.max(seen.longestMs, performance.now() - begun)
  await look(store, acknowledged)
}

describe('a writer killed again and again', () => {
  it(
    `${KILLS} times: nothing acknowledged is lost, nothing is there twice, and the folder always opens`,
    async () => {
      const dataDir = join(temporaryFolder(), 'store')
      let acknowledged = 0
      let next = startChild('writer.ts', [dataDir])
      for (let round = 0; round < KILLS; round += 1) {
        const writer = await next
        // The next one loads while this one works.
        next = startChild('writer.ts', [dataDir])
        const heard: string[] = []
        writer.say(String(acknowledged + 1))
        await momentFor(
          round,
          { ...writer, hear: async () => heard[heard.push(await writer.hear()) - 1] ?? '' },
          dataDir,
        )
        await writer.kill()
        expect(await writer.ended).toBe('SIGKILL')
        heard.push(...writer.heard())
        const numbers = heard.flatMap((line) => (line.startsWith('turn ') ? [Number(line.slice(5))] : []))
        expect(numbers).toEqual(numbers.map((_, index) => acknowledged + 1 + index))
        acknowledged += numbers.length
        if (!existsSync(join(dataDir, 'data'))) seen.whileMade += 1
        else if (!heard.includes('opened')) seen.whileOpened += 1
        else seen.whileWriting += 1
        if (heard.includes('kept without a word')) seen.inDoubt += 1
        if (pidIn(dataDir) === writer.pid) seen.takenOver += 1
        // While the store is being made it is left as it is, so that the next writer finds it so.
        if (round >= WHILE_MADE && round % LOOK_EVERY === 0) await lookInto(dataDir, acknowledged)
      }
      await (await next).kill()
      await lookInto(dataDir, acknowledged)
      // A draft of a lock, or a pulse, may be left by one killed as it took it. It is swept up when it is a minute old.
      expect(contentsOf(dataDir).filter((name) => !name.startsWith('lock.new-'))).toEqual(['data'])
      seen.acknowledged = acknowledged
      console.log(`${KILLS} kills: ${JSON.stringify(seen)}`)
      expect(seen.whileMade).toBeGreaterThan(0)
      expect(seen.whileWriting).toBeGreaterThan(KILLS / 3)
      expect(seen.takenOver).toBeGreaterThan(KILLS / 2)
      expect(acknowledged).toBeGreaterThan(KILLS)
    },
    KILLS * 30_000,
  )
})
