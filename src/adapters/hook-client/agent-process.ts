import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { codeOf, readOwnFile } from '../../own-files.ts'
import { isRecord } from './read-input.ts'
import { isFileName } from './session-card.ts'

type Environment = Readonly<Record<string, string | undefined>>

const FOLDER = 'agents'
const MOST_BYTES = 4_096
/** With more files than this, those of ended processes are removed. */
const MANY = 32
/** Programs that stand between an agent and what it starts, and are no agents themselves. */
const BETWEEN = /^(?:sh|bash|dash|zsh|fish|env|node|npm.*|npx|baton)$/
const FARTHEST = 4

/**
 * Notes which session the agent's process has now, so that other programs it started can learn it: after `/clear` a process
 * has another session, and nobody tells them.
 */
export const noteProcess = (folder: string, session: string, environment: Environment): void => {
  const pid = agentPid(environment)
  mkdirSync(`${folder}/${FOLDER}`, { recursive: true, mode: 0o700 })
  removeEnded(`${folder}/${FOLDER}`)
  const note = { v: 1, pid, startTime: startTimeOf(pid) ?? null, session }
  // Several hooks of one agent may come at once, so each begins a file of its own.
  const begun = `${folder}/${FOLDER}/.${pid}.${process.pid}.tmp`
  writeFileSync(begun, JSON.stringify(note), { flag: 'wx', mode: 0o600 })
  renameSync(begun, `${folder}/${FOLDER}/${pid}.json`)
}

/** Forgets the session of the agent's process, unless it has another one by now. */
export const forgetProcess = (folder: string, session: string, environment: Environment): void => {
  const pid = agentPid(environment)
  if (noted(folder, pid) === session) rmSync(`${folder}/${FOLDER}/${pid}.json`, { force: true })
}

/**
 * The session of the agent that started this process, directly or through a shell or a package runner. Absent where no hook
 * has noted one.
 */
export const sessionOfParent = (folder: string): string | undefined => {
  let pid = process.ppid
  for (let steps = 0; steps < FARTHEST && pid > 1; steps += 1) {
    const session = noted(folder, pid)
    if (session !== undefined) return session
    const parent = parentOf(pid)
    if (parent === undefined || !BETWEEN.test(parent.name)) return undefined
    pid = parent.parent
  }
  return undefined
}

/** Claude names its process to its hooks; of others it is the parent. */
const agentPid = ({ CLAUDE_PID: said = '' }: Environment): number =>
  /^[1-9]\d{0,9}$/.test(said) ? Number(said) : process.ppid

const noted = (folder: string, pid: number): string | undefined => {
  try {
    const note: unknown = JSON.parse(readOwnFile(`${folder}/${FOLDER}/${pid}.json`, MOST_BYTES) ?? '')
    if (!isRecord(note) || note.v !== 1 || !isFileName(note.session)) return undefined
    // Another process may have got the same number since.
    const startTime = startTimeOf(pid) ?? null
    return note.startTime === startTime ? note.session : undefined
  } catch {
    return undefined
  }
}

/** The fields of a process after its name, which may hold anything. Only Linux tells. */
const statOf = (pid: number): { readonly name: string; readonly fields: readonly string[] } | undefined => {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'latin1')
    const end = text.lastIndexOf(')')
    return { name: text.slice(text.indexOf('(') + 1, end), fields: text.slice(end + 2).split(' ') }
  } catch {
    return undefined
  }
}

const startTimeOf = (pid: number): string | undefined => statOf(pid)?.fields[19]

const parentOf = (pid: number): { readonly name: string; readonly parent: number } | undefined => {
  const stat = statOf(pid)
  return stat && { name: stat.name, parent: Number(stat.fields[1]) }
}

const removeEnded = (path: string): void => {
  const names = readdirSync(path)
  if (names.length <= MANY) return
  for (const name of names) if (!isRunning(Number.parseInt(name, 10))) rmSync(`${path}/${name}`, { force: true })
}

const isRunning = (pid: number): boolean => {
  try {
    return Number.isSafeInteger(pid) && process.kill(pid, 0)
  } catch (problem) {
    return codeOf(problem) === 'EPERM'
  }
}
