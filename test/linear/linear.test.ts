import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { describe, expect, it } from 'vitest'
import { IS_FULL } from '../support/amounts.ts'
import { DOORS, MADE } from './doors.ts'
import { allPatterns, patternsIn } from './patterns.ts'

/**
 * Time of the processor for one thing: a quadratic pattern needs hours for 8 MB, and ten minutes for 1 MB. This is the one place where a time guards
 * a test. A busy machine does not count.
 */
const MOST_MS = 60_000

/** Tries everything in a process of its own. @returns what did not end, if anything did not */
const notEnding = (what: string, mostMs = MOST_MS, ...given: readonly string[]): Promise<string | undefined> =>
  new Promise((resolve, reject) => {
    const args = ['--import', 'tsx', 'test/linear/try.ts', what, String(mostMs), ...given]
    const child = spawn(process.execPath, args, {
      env: { PATH: process.env.PATH, ...(IS_FULL && { FULL: '1' }) },
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    let last = 'nothing'
    createInterface(child.stdout).on('line', (line) => {
      last = line
    })
    child.once('error', reject)
    child.once('close', (code, signal) =>
      resolve(code === 0 && last === 'done' ? undefined : `${last} (${signal ?? `exit status ${code}`})`),
    )
  })

describe('a text without end', () => {
  it('is read by every pattern of the source in linear time', async () => {
    expect(allPatterns().found.length).toBeGreaterThan(250)
    expect(await notEnding('patterns')).toBeUndefined()
  })

  it('is read by everything that takes texts of others apart in linear time', async () => {
    expect(await notEnding('doors')).toBeUndefined()
  })

  it('goes through a door for every pattern that is made at run time, or there is a reason why none does', () => {
    const places = [...new Set(allPatterns().made.map(({ place }) => place))]
    expect(places.toSorted()).toEqual(Object.keys(MADE).toSorted())
    const behind = Object.values(MADE).filter((why) => !why.startsWith('no text of others: '))
    expect(behind.filter((door) => !(door in DOORS))).toEqual([])
  })

  it('is not read in linear time by a pattern that is not linear, and that is noticed', async () => {
    // It would not end within 60 s either, and nobody needs to wait for that.
    expect(await notEnding('pattern', 2_000, '\\s+$')).toMatch(/^planted .*SIGKILL/)
  })
})

describe('patterns in a source', () => {
  it('are found wherever they are, and only there', () => {
    const text = [
      'const a = 1 / 2 / 3 // not /this/',
      "const b = [/that/g.test('/no/'), `/nor this/`]",
      'new RegExp(b)',
    ]
    const { found, made } = patternsIn('x.ts', text.join('\n'))
    expect(found).toEqual([{ place: 'x.ts', source: 'that', flags: 'g' }])
    expect(made).toEqual([{ place: 'x.ts', text: 'new RegExp(b)' }])
  })
})
