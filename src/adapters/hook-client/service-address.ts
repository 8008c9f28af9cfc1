import { lstatSync, realpathSync } from 'node:fs'
import { dirname, isAbsolute, join } from 'node:path'
import { isRecord } from '../../domain/kernel/record.ts'
import { type ProvenPlace, sessionToken } from '../../ports/terminal/service-proof.ts'
import { bootId, readProcess } from '../../processes/process-table.ts'
import { isPrivateFolder, mustBeOwnFolder, readOwnFile } from '../files/own-files.ts'

/** The way to the service: its socket, which only this user can have made, or a port, where it must prove itself. */
export type ServiceDoor = { readonly socket: string } | ProvenPlace

/** Where the service listens, and the token that opens everything there. */
export interface ServiceAddress {
  readonly door: ServiceDoor
  readonly master: string
}

const MOST_BYTES = 4_096
const MASTER = /^[0-9a-f]{64}$/
/** The most bytes that every kernel takes as the path of a socket. A longer one would be cut, and lead elsewhere. */
const LONGEST_SOCKET = process.platform === 'linux' ? 107 : 103

/**
 * Finds the service that the folder names. Absent where none is named, where the one that is named has certainly ended, and
 * where the file is of an older version, whose services prove nothing.
 *
 * @throws where the files cannot be read, or are not this user's own
 */
export const serviceAddress = (folder: string): ServiceAddress | undefined => {
  const text = readOwnFile(`${folder}/service.json`, MOST_BYTES)
  if (text === undefined) return undefined
  mustBeOwnFolder(folder)
  const service: unknown = JSON.parse(text)
  if (!isRecord(service)) throw new Error('service.json names no service')
  if (service.v === 1) return undefined
  const door = socketIn(folder, service.socket) ?? portIn(service)
  if (door === undefined) return undefined
  const master = readOwnFile(`${folder}/service.token`, MOST_BYTES)?.trim()
  if (master === undefined || !MASTER.test(master)) throw new Error('service.token holds no token')
  return { door, master }
}

/** The token that a question is asked with: that of one session, or the one that opens everything. */
export const tokenFor = ({ master }: ServiceAddress, providerSessionId?: string): string =>
  providerSessionId === undefined ? master : sessionToken(master, providerSessionId)

/** A socket counts only in a folder that nobody else can enter: who listens there is this user. */
const socketIn = (folder: string, named: unknown): ServiceDoor | undefined => {
  if (typeof named !== 'string' || named === '') return undefined
  const socket = isAbsolute(named) ? named : join(realpathSync(folder), named)
  if (Buffer.byteLength(socket) > LONGEST_SOCKET) throw new Error('the path of its socket is too long from here')
  const found = lstatSync(socket, { throwIfNoEntry: false })
  if (found === undefined) return undefined
  if (!isPrivateFolder(dirname(socket)) || !found.isSocket() || found.uid !== process.getuid?.())
    throw new Error('its socket is not in a folder of this user alone')
  return { socket }
}

/** A port counts only as long as the very process that opened it runs; another one may have it by now. */
const portIn = ({ address, pid, startTime, bootId: boot }: Readonly<Record<string, unknown>>) => {
  if (!isRecord(address) || address.host !== '127.0.0.1' || !isPort(address.port)) return undefined
  const here = bootId() ?? ''
  if (boot !== here || !isRunning(pid, startTime)) return undefined
  return { host: address.host, port: address.port, bootId: here }
}

const isPort = (port: unknown): port is number => Number.isInteger(port) && Number(port) > 0 && Number(port) < 65_536

const isRunning = (pid: unknown, startTime: unknown): boolean => {
  if (!Number.isInteger(pid) || Number(pid) <= 0) return false
  const found = readProcess(Number(pid))
  if (found !== undefined) return !found.isZombie && found.startTime === startTime
  try {
    return process.kill(Number(pid), 0)
  } catch {
    return false // gone, or another user's
  }
}
