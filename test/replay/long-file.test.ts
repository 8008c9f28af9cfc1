import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, describe, expect, it } from 'vitest'
import { readLines } from '../../src/adapters/cli/choose/recordings.ts'
import { contextAt, writeLongRecording } from '../support/long-recording.ts'
import { baton, type ReplayJson } from './run-replay.ts'

const folder = mkdtempSync(join(tmpdir(), 'baton-replay-'))
afterAll(() => rmSync(folder, { recursive: true, force: true, maxRetries: 10 }))

const run = promisify(execFile)

const linesOf = async (...given: Parameters<typeof readLines>): Promise<readonly string[]> => {
  const lines: string[] = []
  for await (const line of readLines(...given)) lines.push(line)
  return lines
}

describe('a long recording', () => {
  // Bounded work, for which a busy machine may take its time.
  it('of 100 MB is replayed in 64 MB of memory, and says how far it is', { timeout: 0 }, async () => {
    const file = join(folder, 'long.jsonl')
    const { turns, compactions } = await writeLongRecording(file, 100_000_000)
    const args = ['--max-old-space-size=64', '--import', 'tsx', 'src/adapters/cli/main.ts', 'replay', file, '--json']
    const { stdout, stderr } = await run(process.execPath, args)
    const [replay] = JSON.parse(stdout) as readonly ReplayJson[]
    expect(replay).toMatchObject({
      turns,
      toolCalls: turns,
      peakContext: contextAt(149),
      lastContext: contextAt(turns - 1),
      subagentTurns: 0,
      damagedLines: 0,
    })
    expect(replay?.compactions).toHaveLength(compactions)
    expect(replay?.compactions[0]).toMatchObject({ contextBefore: contextAt(149), contextAfter: contextAt(0) })
    expect(stderr.trim().split('\n')).toHaveLength(10)
    expect(stderr).toContain(`${file}: 30 % of 100 MB\n`)
  })

  it('says nothing of how far it is when it is short', async () => {
    const file = join(folder, 'short.jsonl')
    await writeLongRecording(file, 100_000)
    expect((await baton(file)).err).toBe('')
  })
})

describe('lines', () => {
  const file = join(folder, 'lines.txt')

  it('are read whole, across chunks and characters, with and without a last line end', async () => {
    const long = 'ä🎉'.repeat(40_000)
    writeFileSync(file, `one\n\n${long}\r\nlast`)
    expect(await linesOf(file)).toEqual(['one', '', `${long}\r`, 'last'])
    writeFileSync(file, 'one\n')
    expect(await linesOf(file)).toEqual(['one'])
  })

  it('are left out when they are too long, and the next is read', async () => {
    writeFileSync(file, `${'x'.repeat(200_000)}\n{"a":1}\n${'y'.repeat(101)}`)
    expect(await linesOf(file, { longest: 100 })).toEqual(['(too long)', '{"a":1}', '(too long)'])
  })
})
