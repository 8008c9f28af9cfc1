import { chmodSync, closeSync, openSync, rmSync } from 'node:fs'
import { connect, createServer, type Server } from 'node:net'
import { join } from 'node:path'

/** How the names of these sockets begin. */
export const PULSE = 'pulse-'

/** A socket that is listened to for as long as its process lives. */
export interface Pulse {
  /** Its file in the folder. */
  readonly name: string
  stop(): void
}

/**
 * Begins to listen on a socket in the folder. Nothing is ever said there: that the kernel lets somebody connect is the
 * proof that the process lives, also to those who cannot see it, as from another container. Only Linux has such
 * processes; and where a file system has no sockets there is no proof either.
 */
export const beginPulse = async (folder: string, token: string): Promise<Pulse | undefined> => {
  if (process.platform !== 'linux') return undefined
  const name = `${PULSE}${token.slice(0, 8)}`
  const server = createServer((visitor) => visitor.destroy())
  if (!(await inFolder(folder, (path) => listening(server, `${path}/${name}`)))) return undefined
  // For its owner, whatever the umask. Somebody who may not connect learns nothing, and leaves the lock alone.
  chmodSync(join(folder, name), 0o600)
  server.unref()
  return {
    name,
    stop: () => {
      rmSync(join(folder, name), { force: true })
      server.close()
    },
  }
}

/** Exclusive: in a cluster the socket would otherwise belong to the primary, and outlive this process. */
const listening = (server: Server, path: string): Promise<boolean> =>
  new Promise((resolve) => {
    server.once('error', () => resolve(false))
    server.listen({ path, exclusive: true }, () => resolve(true))
  })

/** The kernel's answer about a pulse. `unknown`: its file is gone, may not be used, or was never there. */
export const feelPulse = (folder: string, name: string): Promise<'beats' | 'stopped' | 'unknown'> =>
  inFolder(
    folder,
    (path) =>
      new Promise((resolve) => {
        const visitor = connect(`${path}/${name}`)
        visitor.once('connect', () => {
          visitor.destroy()
          resolve('beats')
        })
        visitor.once('error', ({ code }: NodeJS.ErrnoException) => {
          // So many knock that they have to queue: somebody is there.
          if (code === 'EAGAIN') resolve('beats')
          else resolve(code === 'ECONNREFUSED' ? 'stopped' : 'unknown')
        })
      }),
  )

/** A socket's path may have 107 bytes only; a folder that is open has a short one. */
const inFolder = async <T>(folder: string, work: (path: string) => Promise<T>): Promise<T> => {
  const opened = openSync(folder, 'r')
  try {
    return await work(`/proc/self/fd/${opened}`)
  } finally {
    closeSync(opened)
  }
}
