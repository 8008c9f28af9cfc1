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
import { CAREFULLY, codeOf, NotOwn } from '../files/own-files.ts'

const ONCE_PER_MS = 60_000
const MOST_LOG_BYTES = 1024 * 1024

/** All that a service may know of the environment, such as the variables that name its store: the agent's own has keys in it. */
const PASSED =
  /^(?:PATH|HOME|USER|LOGNAME|SHELL|TMPDIR|TMP|TEMP|TZ|LANG|LC_[A-Z]+|XDG_[A-Z_]+|BATONPASS_[A-Z_]+|NODE_EXTRA_CA_CERTS|SystemRoot|APPDATA|LOCALAPPDATA|USERPROFILE)$/

/** How the service is started. */
export interface ServiceStart {
  readonly folder: string
  /** The flags with which it serves the store that was chosen, from that folder. */
  readonly flags: Readonly<Record<string, string | undefined>>
  readonly environment: Readonly<Record<string, string | undefined>>
}

/** A service that was started, which may still end because another one has the folder, or because it cannot run. */
export interface StartedService {
  /** Its exit status, once it has ended; absent while it runs. */
  readonly ended: () => number | undefined
}

/**
 * Starts the service in a session of its own. A hook does so unless one was started within a minute: many come at once, and
 * one that cannot start must not be started by each of them. A person who waits does so in any case: only one of several
 * services gets the folder, and the others end well.
 *
 * @returns nothing where it was not this one's turn
 */
export const startService = async (
  { folder, flags, environment }: ServiceStart,
  { isAsked = false }: { readonly isAsked?: boolean } = {},
): Promise<StartedService | undefined> => {
  if (!takesTurn(folder, Date.now()) && !isAsked) return undefined
  const { spawn } = await import('node:child_process')
  const log = openLog(folder)
  try {
    const [, program = ''] = process.argv
    const child = spawn(process.execPath, [...process.execArgv, program, ...serveArguments(flags)], {
      cwd: folder,
      detached: true,
      stdio: ['ignore', log, log],
      env: passed(environment),
    })
    let status: number | undefined
    child.on('error', () => {
      status = -1 // the next event tries again
    })
    child.once('exit', (code) => {
      status = code ?? -1
    })
    child.unref()
    return { ended: () => status }
  } finally {
    closeSync(log)
  }
}

const serveArguments = (flags: ServiceStart['flags']): readonly string[] => {
  const named = Object.entries(flags).flatMap(([name, value]) => (value === undefined ? [] : [`--${name}`, value]))
  return ['serve', ...named, '--idle-timeout', '30m', '--started-by-hook']
}

const passed = (environment: ServiceStart['environment']): Record<string, string | undefined> =>
  Object.fromEntries(Object.entries(environment).filter(([name]) => PASSED.test(name)))

const openLog = (folder: string): number => {
  const { O_WRONLY, O_APPEND, O_CREAT } = constants
  const log = openSync(`${folder}/service.log`, O_WRONLY | O_APPEND | O_CREAT | CAREFULLY, 0o600)
  const found = fstatSync(log)
  if (!found.isFile()) {
    closeSync(log)
    throw new NotOwn('service.log is not a plain file')
  }
  if (found.size > MOST_LOG_BYTES) ftruncateSync(log, 0)
  return log
}

/**
 * Lets one hook a minute start a service, however many come at once. All who see the same old stamp try to make the same file;
 * the hook that made it looks at the stamp again and then puts that file in its place. It is no lock: nobody waits for it, and
 * it is never given back.
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
