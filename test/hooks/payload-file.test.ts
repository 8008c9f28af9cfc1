import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { sweepPayloads } from '../../src/adapters/hooks/payload-file.ts'
import { NodeHookRunner } from '../../src/entry/hooks.ts'
import { shell, threshold } from './samples.ts'

const runner = new NodeHookRunner()
const FILE = '"$BATONPASS_HOOK_PAYLOAD_FILE"'

const folder = (): string => {
  const path = mkdtempSync(join(tmpdir(), 'payloads-'))
  onTestFinished(() => rmSync(path, { recursive: true, force: true, maxRetries: 10 }))
  return path
}

/** The number of a process that has ended. */
const endedPid = (): number => spawnSync('true').pid

describe('the payload in a file', () => {
  it('is what stands on stdin, for its owner only, in a folder of its own, and is gone afterwards', async () => {
    const result = await runner.run(shell(`cat ${FILE}; stat -c %a ${FILE} "$(dirname ${FILE})"; echo ${FILE}`), {
      ...threshold,
      original_prompt: 'It has\\n a backslash and a \n line break',
    })
    const [json = '', ofFile, ofFolder, path = ''] = result.output.trim().split('\n')
    expect(JSON.parse(json)).toMatchObject({ original_prompt: 'It has\\n a backslash and a \n line break' })
    expect([ofFile, ofFolder]).toEqual(['600', '700'])
    expect(existsSync(dirname(path))).toBe(false)
  })

  it.each([
    ['fails', shell(`echo ${FILE}; exit 3`)],
    ['takes too long', shell(`echo ${FILE}; sleep 60`, { timeoutMs: 300 })],
    ['is killed', shell(`echo ${FILE}; kill -9 $$`)],
    ['makes it unreadable', shell(`echo ${FILE}; chmod 000 ${FILE}`)],
  ])('is gone after a hook that %s', async (_, hook) => {
    const { output } = await runner.run(hook, threshold)
    expect(output.trim()).toMatch(/payload\.json$/)
    expect(existsSync(dirname(output.trim()))).toBe(false)
  })

  it('is swept if its process was killed, and nothing else is', () => {
    const place = folder()
    const [dead, alive, odd] = [
      `batonpass-hook-${endedPid()}-abc`,
      `batonpass-hook-${process.pid}-abc`,
      'batonpass-hook-x',
    ]
    for (const name of [dead, alive, odd]) {
      mkdirSync(join(place, name))
      writeFileSync(join(place, name, 'payload.json'), '{}')
    }
    const outside = folder()
    writeFileSync(join(outside, 'kept'), '')
    symlinkSync(outside, join(place, `batonpass-hook-${endedPid()}-link`))
    sweepPayloads(place)
    expect(
      readdirSync(place)
        .filter((name) => !name.endsWith('-link'))
        .sort(),
    ).toEqual([alive, odd].sort())
    expect(existsSync(join(outside, 'kept'))).toBe(true)
  })
})
