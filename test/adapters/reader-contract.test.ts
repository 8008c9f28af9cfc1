import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { readerContract } from '../../src/entry/testing.ts'
import { windowReaders } from '../../src/main/runtimes.ts'
import { runsOf } from '../support/amounts.ts'
import { READERS } from '../support/reader-records.ts'

const WINDOW_READERS = await windowReaders()

for (const made of READERS) readerContract(() => made, { describe, it })

describe('readers', () => {
  it('are all put through the contract', () => {
    expect(READERS.map(({ reader }) => reader.format).sort()).toEqual(WINDOW_READERS.map(({ format }) => format).sort())
  })

  it('take no record for their own that another runtime sent', () => {
    const shared = READERS.flatMap(({ reader, records }) =>
      records.flatMap((record) =>
        WINDOW_READERS.filter((other) => other !== reader && other.recognises(record)).map(
          (other) => `${other.format} claims a record of ${reader.format}`,
        ),
      ),
    )
    expect(shared).toEqual([])
  })

  it('never throw, whatever JSON comes', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 6 }), (record) => {
        for (const { reader } of READERS) {
          reader.recognises(record)
          reader.read(record)
        }
      }),
      { numRuns: runsOf(500) },
    )
  })
})
