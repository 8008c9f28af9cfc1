import { createBatonpass } from '../../src/batonpass.ts'
import { StoreFailure } from '../../src/ports/store-failure.ts'
import { spokenLines } from './spoken-lines.ts'

/** What became of an attempt to open a store. */
export interface Opening {
  readonly outcome: 'opened' | 'refused'
  readonly ms: number
  readonly code?: string
  readonly message?: string
}

const [dataDir] = process.argv.slice(2)

/** Opens when told, and keeps the store until told to `close` it or to `exit` without closing. */
const begun = { at: 0 }
const report = (opening: Omit<Opening, 'ms'>): void =>
  console.log(JSON.stringify({ ...opening, ms: performance.now() - begun.at }))

const opened = async () => {
  begun.at = performance.now()
  try {
    const batonpass = await createBatonpass(dataDir === undefined ? {} : { dataDir })
    report({ outcome: 'opened' })
    return batonpass
  } catch (error) {
    if (!(error instanceof StoreFailure)) throw error
    report({ outcome: 'refused', code: error.code, message: error.message })
    return undefined
  }
}

const lines = spokenLines()
await lines.next()
const batonpass = await opened()
if ((await lines.next()).value === 'exit') process.exit(0)
await batonpass?.close()
console.log('closed')
process.exit(0)
