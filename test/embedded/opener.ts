import { unwrap } from '../../src/domain/unwrap.ts'
import { createBatonpass } from '../../src/main/batonpass.ts'
import { StoreFailure } from '../../src/ports/store/store-failure.ts'
import { spokenLines } from './spoken-lines.ts'

/** What became of an attempt to open a store. */
export interface Opening {
  readonly outcome: 'opened' | 'refused'
  readonly ms: number
  readonly code?: string
  readonly message?: string
}

const [dataDir] = process.argv.slice(2)

/** Opens when told, and keeps the store until told to `close` it or to `exit` without closing; asks for any other key it is told. */
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
for (let line = (await lines.next()).value; line !== 'close'; line = (await lines.next()).value) {
  if (line === 'exit') process.exit(0)
  // The same key gives the same conversation, whoever asks.
  const asked = await batonpass?.handoffs.openConversation({ originalTask: 'Share', externalKey: String(line) })
  console.log(asked === undefined ? 'nothing' : unwrap(asked).conversation.id)
}
await batonpass?.close()
console.log('closed')
process.exit(0)
