import {
  closeSync,
  constants,
  fstatSync,
  ftruncateSync,
  lstatSync,
  openSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { CAREFULLY, codeOf } from './own-files.ts'

const ONCE_PER_MS = 60_000
const MOST_LOG_BYTES = 1024 * 1024

/** All that a service may know of the environment: the agent's has keys in it, and the address of the project's own database. */
const PASSED =
  /^(?:PATH|HOME|USER|LOGNAME|SHELL|TMPDIR|TMP|TEMP|TZ|LANG|LC_[A-Z]+|XDG_[A-Z_]+|BATONPASS_[A-Z_]+|NODE_EXTRA_CA_CERTS|SystemRoot|APPDATA|LOCALAPPDATA|USERPROFILE)$/

/** How the service is started. */
export interface ServiceStart {
  readonly folder: string
  /** The server that the hook's own flags name. */
  readonly flags: Readonly<Record<string, string | undefined>>
  readonly environment: Readonly<Record<string, string | undefined>>
}

/** Starts the service in a session of its own, unless one was started within a minute. @returns whether it was */
export const startService = async ({ folder, flags, environment }: ServiceStart): Promise<boolean> => {
  if (!takesTurn(folder, Date.now())) return false
  const { spawn } = await import('node:child_process')
  const log = openLog(folder)
  try {
    const [, program = ''] = process.argv
    const child = spawn(process.execPath, [...process.execArgv, program, ...serveArguments(folder, flags)], {
      cwd: folder,
      detached: true,
      stdio: ['ignore', log, log],
      env: { ...passed(environment), BATONPASS_DATA_DIR: folder },
    })
    child.on('error', () => {}) // the next event tries again
    child.unref()
  } finally {
    closeSync(log)
  }
  return true
}

const serveArguments = (folder: string, flags: ServiceStart['flags']): readonly string[] => {
  const { 'database-file': databaseFile, schema } = flags
  // A server is named by a file; the folder is then known from the environment alone.
  const store = databaseFile === undefined ? ['--data-dir', folder] : ['--database-file', databaseFile]
  const inSchema = schema === undefined ? [] : ['--schema', schema]
  return ['serve', ...store, ...inSchema, '--idle-timeout', '30m', '--started-by-hook']
}

const passed = (environment: ServiceStart['environment']): Record<string, string | undefined> =>
  Object.fromEntries(Object.entries(environment).filter(([name]) => PASSED.test(name)))

const openLog = (folder: string): number => {
  const { O_WRONLY, O_APPEND, O_CREAT } = constants
  const log = openSync(`${folder}/service.log`, O_WRONLY | O_APPEND | O_CREAT | CAREFULLY, 0o600)
  const found = fstatSync(log)
  if (found.isFile() && found.size > MOST_LOG_BYTES) ftruncateSync(log, 0)
  return log
}

/**
 * Lets one hook a minute start a service, however many come at once. Whoever sees the same old stamp tries to make the same
 * file; the one who made it looks at the stamp again and then puts that file in its place.
 */
const takesTurn = (folder: string, now: number): boolean => {
  const stamp = `${folder}/service.start`
  const seen = stampOf(stamp)
  if (isFresh(seen, now)) return false
  const claim = `${stamp}.${seen?.ino ?? 0}-${Math.floor(seen?.mtimeMs ?? 0)}`
  try {
    writeFileSync(claim, `${process.pid}\n`, { flag: 'wx', mode: 0o600 })
  } catch (problem) {
    if (codeOf(problem) !== 'EEXIST') throw problem
    // Left by a hook that was killed half-way, or another's a moment ago.
    if (!isFresh(stampOf(claim), now)) rmSync(claim, { force: true })
    return false
  }
  const again = stampOf(stamp)
  if (again?.ino !== seen?.ino || again?.mtimeMs !== seen?.mtimeMs) {
    rmSync(claim, { force: true })
    return false
  }
  renameSync(claim, stamp)
  return true
}

const stampOf = (path: string) => lstatSync(path, { throwIfNoEntry: false })

/** A stamp of the future is as good as one of the past: a clock was set. */
const isFresh = (stamp: { readonly mtimeMs: number } | undefined, now: number): boolean =>
  stamp !== undefined && Math.abs(now - stamp.mtimeMs) < ONCE_PER_MS
