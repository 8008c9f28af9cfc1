import { appendFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { RolloutTail } from '../../src/adapters/codex/readers/rollout-tail.ts'
import { findRollout } from '../../src/adapters/codex/runtime/rollout-file.ts'
import { rolloutPath, THREAD, temporaryHome, write } from '../support/fake-codex.ts'

const read = async (tail: RolloutTail): Promise<readonly unknown[]> => {
  const records: unknown[] = []
  for await (const record of tail.records()) records.push(record)
  return records
}

const file = (content: string | Buffer = ''): string => {
  const path = join(temporaryHome(), 'rollout.jsonl')
  writeFileSync(path, content)
  return path
}

describe('a tail of a rollout', () => {
  it('gives each line once, when all of it is there', async () => {
    const path = file('{"a":1}\n{"a":')
    const tail = new RolloutTail(path)
    expect(await read(tail)).toEqual([{ a: 1 }])
    expect(await read(tail)).toEqual([])
    appendFileSync(path, '2}')
    expect(await read(tail)).toEqual([])
    appendFileSync(path, '\n{"a":3}\n')
    expect(await read(tail)).toEqual([{ a: 2 }, { a: 3 }])
  })

  it('keeps a letter whole whose bytes come apart, also where its chunks end', async () => {
    const bytes = Buffer.from('{"a":"é"}\n')
    const path = file(bytes.subarray(0, 7))
    const tail = new RolloutTail(path)
    expect(await read(tail)).toEqual([])
    appendFileSync(path, bytes.subarray(7))
    expect(await read(tail)).toEqual([{ a: 'é' }])
    const long = 'é'.repeat(100_000)
    appendFileSync(path, ` ${JSON.stringify({ long })}\n`)
    expect(await read(tail)).toEqual([{ long }])
  })

  it('begins where the file ends, if told so', async () => {
    const path = file('{"a":1}\n')
    const tail = await RolloutTail.fromEnd(path)
    appendFileSync(path, '{"a":2}\n')
    expect(await read(tail)).toEqual([{ a: 2 }])
  })

  it('leaves out what is damaged or too long, and nothing else', async () => {
    const path = file(`{"a":1}\nnot json\n\n{"long":"${'x'.repeat(100)}"}\n{"a":2}\n{"long":"${'x'.repeat(50)}`)
    const tail = new RolloutTail(path, 0, 60)
    expect(await read(tail)).toEqual([{ a: 1 }, { a: 2 }])
    appendFileSync(path, `${'x'.repeat(50)}"}\n{"a":3}\n`)
    expect(await read(tail)).toEqual([{ a: 3 }])
  })

  it('does not begin again when the file becomes shorter', async () => {
    const path = file('{"a":1}\n{"a":2}\n')
    const tail = new RolloutTail(path)
    await read(tail)
    writeFileSync(path, '{"a":1}\n')
    expect(await read(tail)).toEqual([])
  })
})

describe('the rollout of a thread', () => {
  it('is found by the name of the thread, in the newest folders first', async () => {
    const home = temporaryHome()
    write(rolloutPath(home, THREAD, '2025/12/31'), {})
    write(rolloutPath(home, 'another', '2026/11/17'), {})
    write(rolloutPath(home, THREAD, '2026/11/16'), {})
    expect(await findRollout(home, THREAD, { days: 9 })).toBe(rolloutPath(home, THREAD, '2026/11/16'))
    expect(await findRollout(home, THREAD, { days: 1 })).toBeUndefined()
    expect(await findRollout(home, 'other', { days: 9 })).toBeUndefined()
    expect(await findRollout(home, '', { days: 9 })).toBeUndefined()
  })

  it('is not there when nothing is', async () => {
    expect(await findRollout(join(temporaryHome(), 'absent'), THREAD, { days: 9 })).toBeUndefined()
  })
})
