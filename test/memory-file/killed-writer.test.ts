import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { FileMemoryFiles } from '../../src/adapters/memory-file/file-memory-files.ts'
import { startChild } from '../embedded/child-process.ts'
import { temporaryFolder } from '../embedded/temporary-folder.ts'
import { randomFrom } from '../races/jitter.ts'
import { ABOVE, around, BELOW, FILE, holderIn, resetting } from './sample.ts'

/** A few with every run; `npm run test:memory-file` for the thousand that prove it. */
const KILLS = Number(process.env.MEMORY_FILE_KILLS ?? 15)
const random = randomFrom(20_261_117)
const wait = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))
const writerIn = (folder: string) => startChild('../memory-file/writer.ts', [folder, 'writer'])

describe('a writer of the block killed again and again', () => {
  it(
    `${KILLS} times: the file is whole, nothing outside of the block is lost, and no file stays beside it`,
    async () => {
      const folder = temporaryFolder()
      const path = join(folder, 'CLAUDE.md')
      const file = new FileMemoryFiles({ isTracked: async () => false }).open(folder, 'CLAUDE.md')
      writeFileSync(path, FILE)
      const seen = { changes: 0, withLock: 0, withDraft: 0, held: 0 }
      let next = writerIn(folder)
      for (let round = 0; round < KILLS; round += 1) {
        const writer = await next
        next = writerIn(folder)
        const heard: string[] = []
        writer.say(`1000000 ${round * 1000}`)
        for (let lines = Math.floor(random() * 3); lines > 0; lines -= 1) heard.push(await writer.hear())
        await wait(random() * 60)
        await writer.kill()
        heard.push(...writer.heard())
        const left = readdirSync(folder)
        const text = readFileSync(path, 'utf8')
        expect(around(text)).toEqual([ABOVE, BELOW])
        const holder = holderIn(text)
        // The last change that was told of is there, or the one after it.
        const last = heard.at(-1)?.split(' ')
        if (last?.[0] === 'filled') expect([last[1], undefined]).toContain(holder)
        if (last?.[0] === 'reset') expect(holder).not.toBe(last[1])
        expect(heard.filter((line) => line.startsWith('lost'))).toEqual([])
        seen.changes += heard.length
        seen.withLock += Number(left.some((name) => name.startsWith('.batonpass-lock-')))
        seen.withDraft += Number(left.some((name) => name.startsWith('.batonpass-new-')))
        seen.held += Number(holder !== undefined)
        await file.change(resetting(holder ?? ''))
        expect(readdirSync(folder)).toEqual(['CLAUDE.md'])
        expect(readFileSync(path, 'utf8')).toBe(FILE)
      }
      await (await next).kill()
      console.log(`${KILLS} kills: ${JSON.stringify(seen)}`)
      expect(seen.withLock).toBeGreaterThan(KILLS / 3)
    },
    KILLS * 30_000,
  )
})
