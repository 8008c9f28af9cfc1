import { createHmac } from 'node:crypto'
import { readOwnFile } from './own-files.ts'
import { isRecord } from './read-input.ts'

/** Where the service listens, and a token that opens something there. */
export interface ServiceAddress {
  readonly port: number
  readonly token: string
}

const MOST_BYTES = 4_096
const MASTER = /^[0-9a-f]{64}$/

/**
 * Finds the service that the folder names. Absent where none is named, or the process it names has ended: its port may be
 * somebody else's by now. @throws where the files cannot be read
 */
export const serviceAddress = (folder: string, providerSessionId: string): ServiceAddress | undefined => {
  const found = masterAddress(folder)
  if (found === undefined) return undefined
  const token = createHmac('sha256', found.token).update(`session:${providerSessionId}`).digest('hex')
  return { port: found.port, token }
}

/** The same with the token that opens everything, for commands that a person types. */
export const masterAddress = (folder: string): ServiceAddress | undefined => {
  const text = readOwnFile(`${folder}/service.json`, MOST_BYTES)
  if (text === undefined) return undefined
  const service: unknown = JSON.parse(text)
  if (!isRecord(service) || !isPort(service.port)) throw new Error('service.json names no port')
  if (!isRunning(service.pid)) return undefined
  const master = readOwnFile(`${folder}/service.token`, MOST_BYTES)?.trim()
  if (master === undefined || !MASTER.test(master)) throw new Error('service.token holds no token')
  return { port: service.port, token: master }
}

const isPort = (port: unknown): port is number => Number.isInteger(port) && Number(port) > 0 && Number(port) < 65_536

const isRunning = (pid: unknown): boolean => {
  if (!Number.isInteger(pid) || Number(pid) <= 0) return false
  try {
    return process.kill(Number(pid), 0)
  } catch {
    return false // gone, or another user's
  }
}
