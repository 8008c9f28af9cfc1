import { type PgliteLock, takeLock } from '../../src/adapters/postgres/pglite-lock.ts'
import { StoreFailure } from '../../src/ports/store-failure.ts'
import { spokenLines } from './spoken-lines.ts'

const [folder = ''] = process.argv.slice(2)

/** What became of an attempt to take a lock. */
const attempt = (at: number): { readonly answer: string; readonly lock?: PgliteLock } => {
  while (Date.now() < at) {} // all of them in the same millisecond
  try {
    return { lock: takeLock(folder), answer: 'took it' }
  } catch (error) {
    if (!(error instanceof StoreFailure && error.code === 'store.locked')) throw error
    return { answer: error.message }
  }
}

let lock: PgliteLock | undefined
for await (const line of spokenLines()) {
  lock?.release()
  lock = undefined
  if (line !== 'release') {
    const tried = attempt(Number(line))
    lock = tried.lock
    console.log(tried.answer)
  } else console.log('released')
}
