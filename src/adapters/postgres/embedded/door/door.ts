import { chmodSync, rmSync } from 'node:fs'
import { createServer, type Server, type Socket } from 'node:net'
import { makeDoorPlace } from './door-place.ts'
import { type Host, showOut, type VisitLimits, visit } from './visit.ts'
import { failure } from './wire-answers.ts'

/** The limits of a door. */
export interface DoorLimits extends VisitLimits {
  readonly mostVisitors: number
}

const LIMITS: DoorLimits = { mostBytes: 256 * 2 ** 20, patienceMs: 30_000, mostVisitors: 1_000 }

/** A socket on which the holder of a folder lets other processes of its user in. */
export interface Door {
  /** Where it is, as the lock says it. */
  readonly address: string
  /** Begins to serve. Visitors that came earlier have waited. */
  serve(host: Host): void
  /** Lets nobody in any more, and shows everybody out once they have what was answered to them. */
  close(): Promise<void>
  /** Takes the socket away, at once. */
  remove(): void
}

/**
 * Opens a door for the folder of a store, before its lock can be seen. Nothing where there is none to be had, such as on
 * Windows, whose pipes other users may open, or on a file system without sockets.
 */
export const openDoor = async (
  store: string,
  token: string,
  limits: DoorLimits = LIMITS,
): Promise<Door | undefined> => {
  if (process.platform === 'win32') return undefined
  const place = makeDoorPlace(store, token)
  if (place === undefined) return undefined
  const remove = (): void => rmSync(place.folder, { recursive: true, force: true })
  const server = createServer({ pauseOnConnect: true })
  if (!(await isListening(server, place.socket))) {
    remove()
    return undefined
  }
  chmodSync(place.socket, 0o600)
  return { address: place.address, remove, ...receive(server, limits) }
}

/** Exclusive: in a cluster the socket would otherwise belong to the primary, and outlive this process. */
const isListening = (server: Server, path: string): Promise<boolean> =>
  new Promise((resolve) => {
    server.once('error', () => resolve(false))
    server.listen({ path, exclusive: true }, () => resolve(true))
  })

/** Visitors keep nobody's process alive: a process that still needs the store after its holder has ended takes it over. */
const receive = (server: Server, limits: DoorLimits): Pick<Door, 'serve' | 'close'> => {
  const visits = new Map<Socket, Promise<void>>()
  let serve: (host?: Host) => void = () => {}
  const served = new Promise<Host | undefined>((resolve) => {
    serve = resolve
  })
  const receiveOne = async (socket: Socket): Promise<void> => {
    const host = await served
    if (host !== undefined && !socket.destroyed) await visit(socket, host, limits)
  }
  server.unref()
  // Too many open files, for example: who was not let in tries again.
  server.on('error', () => {})
  server.on('connection', (socket) => {
    socket.unref()
    socket.on('error', () => {})
    if (visits.size >= limits.mostVisitors) {
      socket.end(failure('FATAL', '53300', `${limits.mostVisitors} visitors are here already`))
      return
    }
    visits.set(
      socket,
      receiveOne(socket).catch(() => {}),
    )
    socket.once('close', () => visits.delete(socket))
  })
  const close = async (): Promise<void> => {
    server.close()
    // Those who waited to be served have waited in vain.
    serve()
    const open = [...visits]
    for (const [socket] of open) showOut(socket)
    await Promise.all(open.map(([, done]) => done))
  }
  return { serve, close }
}
