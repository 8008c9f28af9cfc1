import { describe, expect, it } from 'vitest'
import { agentSdkReader } from '../src/entry/claude.ts'
import { type Harness, readerContract } from '../src/entry/testing.ts'
import type { WindowReader } from '../src/entry/window.ts'
import { bottomless, claiming, greedy, remembering, silent, strict, trusting } from './faulty-readers/faulty-readers.ts'
import { recordsIn } from './support/reader-records.ts'

/** Runs the whole contract against a reader and answers with the names of the cases that failed. */
const failuresOf = async (reader: WindowReader): Promise<readonly string[]> => {
  const cases: { readonly name: string; readonly run: () => Promise<void> }[] = []
  const collect: Harness = { describe: (_, body) => body(), it: (name, run) => cases.push({ name, run }) }
  readerContract(() => ({ reader, records: recordsIn('agent-sdk') }), collect)
  const failed: string[] = []
  for (const { name, run } of cases) await run().catch(() => failed.push(name))
  return failed
}

describe('the reader contract catches', () => {
  it.each([
    ['one that trusts what it is sent', trusting, 'never throws on any JSON at all'],
    ['one that runs out of stack', bottomless, 'says nothing of what is not its own, and never throws'],
    ['one that reads sums', greedy, 'never takes a sum over requests for a reading'],
    [
      'one that keeps state',
      remembering(),
      'keeps no state: the same record says the same, whatever came between, and is left as it was',
    ],
    ['one that claims everything', claiming, 'says nothing of what is not its own, and never throws'],
    ['one that refuses what is new', strict, 'lets unknown fields and types through'],
    ['one that says nothing', silent, 'knows its own records, and says something of them'],
  ])('%s', async (_, reader, expected) => {
    expect(await failuresOf(reader)).toContain(expected)
  })

  it('nothing in an honest reader', async () => {
    expect(await failuresOf(agentSdkReader)).toEqual([])
  })
})
