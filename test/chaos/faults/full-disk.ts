import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { open, statfs } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { type Fault, TIMEOUTS, wait } from './fault.ts'
import { OwnServer } from './own-server.ts'

const run = promisify(execFile)

/** Room for a server, its write-ahead log and some minutes of work. */
const SIZE = '400m'

/** A small file system in memory; `undefined` where this user may not mount one. */
const mounted = async (): Promise<string | undefined> => {
  const folder = mkdtempSync(join(tmpdir(), 'batonpass-disk-'))
  try {
    await run('mount', ['-t', 'tmpfs', '-o', `size=${SIZE},mode=0755`, 'tmpfs', folder])
    return folder
  } catch {
    rmSync(folder, { recursive: true, force: true, maxRetries: 10 })
    return undefined
  }
}

/** Takes all the room that is left: most of it at once where there is a tool for it, the rest by writing. */
const fill = async (path: string): Promise<void> => {
  const { bavail, bsize } = await statfs(dirname(path))
  const most = Math.max(bavail * bsize - (8 << 20), bsize)
  await run('fallocate', ['-l', String(most), path]).catch(() => {})
  const file = await open(path, 'a')
  for (let size = 4 << 20; size >= 512; ) {
    const isWritten = await file.write(Buffer.alloc(size)).then(
      () => true,
      () => false,
    )
    if (!isWritten) size >>= 1
  }
  await file.close()
}

/** The server's disk is full, again and again. A server that gives up meanwhile is started again once there is room. */
export const fullDisk: Fault = {
  name: 'full-disk',
  weight: 2,
  least: { faults: 2, acknowledged: 100, failures: 1 },
  prepare: async () => {
    const folder = await mounted()
    if (folder === undefined) return { notRun: 'a file system of a given size cannot be mounted by this user' }
    const server = await OwnServer.start(folder)
    const direct = await server.database('full_disk')
    const ballast = join(folder, 'ballast')
    const empty = async (): Promise<void> => {
      rmSync(ballast, { force: true })
      await server.revive()
    }
    return {
      store: { connectionString: direct, ...TIMEOUTS },
      direct,
      inject: async (_, chance) => {
        await wait(3_000 + chance.below(4_000))
        await fill(ballast)
        await wait(2_000 + chance.below(3_000))
        await empty()
        return 1
      },
      heal: empty,
      [Symbol.asyncDispose]: async () => {
        await server[Symbol.asyncDispose]()
        await run('umount', [folder])
        rmSync(folder, { recursive: true, force: true, maxRetries: 10 })
      },
    }
  },
}
