import { randomBytes } from 'node:crypto'
import fs, { openSync, writeSync } from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { dirname } from 'node:path'
import { unwrap } from '../../src/domain/unwrap.ts'
import { createBatonpass } from '../../src/main/batonpass.ts'
import { StoreFailure } from '../../src/ports/store/store-failure.ts'
import { spokenLines } from './spoken-lines.ts'

const [dataDir = '', ballast = '', mode = ''] = process.argv.slice(2)
const { statfsSync } = fs

const free = (): number => {
  const { bavail, bsize } = statfsSync(dirname(ballast))
  return bavail * bsize
}

/** The store sees a disk with room, as it does when somebody else takes that room a moment later. */
if (mode === 'blind') {
  fs.statfsSync = ((path: string) => ({ ...statfsSync(path), bavail: 2 ** 40, bsize: 1 })) as typeof statfsSync
  syncBuiltinESMExports()
}

/** Takes so many bytes of the disk, or all but so many. */
const fill = (bytes: number): void => {
  for (let left = bytes; left > 0; left -= 2 ** 20) writeSync(file, Buffer.alloc(Math.min(2 ** 20, left)))
}

const write = async (): Promise<boolean> => {
  try {
    const originalTask = randomBytes(20_000).toString('base64')
    const { conversation } = unwrap(await batonpass.handoffs.openConversation({ originalTask }))
    console.log(`kept ${conversation.id}`)
    return true
  } catch (error) {
    console.log(`failed ${error instanceof StoreFailure ? error.code : String(error)}`)
    console.error(error)
    return false
  }
}

/** Writes to the store, and fills its disk, until the store says that the disk is full. */
const lines = spokenLines()
await lines.next()
const batonpass = await createBatonpass({ dataDir })
const file = openSync(ballast, 'w')
if (mode === 'blind') fill(free() - 14 * 2 ** 20)
while (await write()) if (mode !== 'blind') fill(Math.min(free(), 2 ** 20))
if (mode !== 'blind') fill(free())
await write()
await batonpass.close()
console.log('closed')
process.exit(0)
