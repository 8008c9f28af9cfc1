import { spawnSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { readlinkSync, writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'

/** The pid of a process that has ended. */
export const endedPid = (): number => spawnSync(process.execPath, ['--version']).pid

/** A lock as some process may have left it: here, unless said otherwise, one that ended without a word. */
export const plantLock = (folder: string, details: Readonly<Record<string, unknown>> = {}, name = 'lock'): string => {
  const token = randomUUID()
  const holder = {
    pid: details.pid ?? endedPid(),
    host: hostname(),
    startedAt: '2026-11-16T09:00:00.000Z',
    token,
    ...(process.platform === 'linux' && { pidNamespace: readlinkSync('/proc/self/ns/pid') }),
    ...details,
  }
  writeFileSync(join(folder, name), JSON.stringify(holder))
  return token
}
