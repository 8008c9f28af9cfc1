import { type Answering, type HttpTimeouts, listenOnPort, listenOnSocket } from '../adapters/http/http-server.ts'
import type { StrangerLimits } from '../adapters/http/strangers.ts'
import { readRunning } from '../adapters/terminal/service-files.ts'
import { removeLeftSockets, type SocketPlace, socketPlaces } from '../adapters/terminal/service-socket.ts'
import { defined } from '../domain/kernel/defined.ts'

/** The steps that take back what was begun, the last one first. */
export type Undo = (() => PromiseLike<void> | void)[]

/** Where a service is to listen. */
export interface DoorOptions {
  readonly folder: string
  readonly port?: number
  readonly timeouts?: HttpTimeouts
  readonly strangers?: StrangerLimits
}

interface Doors {
  readonly socket?: SocketPlace
  readonly port?: number
}

/** A socket for hooks and commands, and a port for those who asked for one. Where no socket can be had, the port is for all. */
export const openDoors = async (
  answering: Answering,
  { folder, port, timeouts, strangers }: DoorOptions,
  undo: Undo,
): Promise<Doors> => {
  removeLeftSockets(folder, (await readRunning(folder))?.socket)
  const socket = await openSocket(answering, { folder, timeouts }, undo)
  if (socket !== undefined && port === undefined) return { socket }
  const listening = await listenOnPort(answering, port ?? 0, timeouts, strangers)
  undo.push(() => listening.close())
  return defined({ socket, port: listening.port })
}

const openSocket = async (
  answering: Answering,
  { folder, timeouts }: { readonly folder: string; readonly timeouts: HttpTimeouts | undefined },
  undo: Undo,
): Promise<SocketPlace | undefined> => {
  for (const place of socketPlaces(folder)) {
    const listening = await listenOnSocket(answering, place.path, timeouts)
    if (listening === undefined) {
      place.remove()
      continue
    }
    undo.push(async () => {
      await listening.close()
      place.remove()
    })
    return place
  }
  return undefined
}
