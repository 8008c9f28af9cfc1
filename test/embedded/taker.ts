import type { PgliteLock } from '../../src/adapters/postgres/embedded/pglite-lock.ts'
import { takeProvenLock } from '../../src/adapters/postgres/embedded/pglite-proven-lock.ts'
import { StoreFailure } from '../../src/ports/store/store-failure.ts'
import { spokenLines } from './spoken-lines.ts'

const [folder = ''] = process.argv.slice(2)

/** What became of an attempt to take a lock. */
const attempt = async (at: number): Promise<{ readonly answer: string; readonly lock?: PgliteLock }> => {
  while (Date.now() < at) {} // all of them in the same millisecond
  try {
    return { lock: await takeProvenLock(folder), answer: 'took it' }
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
    const tried = await attempt(Number(line))
    lock = tried.lock
    console.log(tried.answer)
  } else console.log('released')
}
