import { mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { hostname } from 'node:os'
import { isRecord } from '../../domain/kernel/record.ts'
import type { AgentPresence } from '../../domain/session/agent-presence.ts'
import { isTaken, pidNamespace, readProcess } from '../../processes/process-table.ts'
import { removeAbandoned } from '../files/folder-lock.ts'
import { readOwnFile } from '../files/own-files.ts'
import { writeWhole } from '../files/whole-file.ts'
import { isFileName } from './hook-card.ts'

const FOLDER = 'agents'
const MOST_BYTES = 4_096
/** With more files than this, those of ended processes are removed. */
const MANY = 32
/** Programs that stand between an agent and what it starts, and are no agents themselves. */
const BETWEEN = /^(?:sh|bash|dash|zsh|fish|env|node|npm.*|npx|baton)$/
/** Of those, the ones that no agent is written in. */
const SHELL = /^(?:sh|bash|dash|zsh|fish|env|npm.*|npx|baton)$/
const FARTHEST = 4

/**
 * Notes which session the agent's process has now, so that other programs it started can learn it: after `/clear` a process
 * has another session, and nobody tells them.
 *
 * @param named the id of the agent's process, where the agent named it to its hook
 */
export const noteProcess = (folder: string, session: string, named: string | undefined): void => {
  const pid = agentPid(named)
  mkdirSync(`${folder}/${FOLDER}`, { recursive: true, mode: 0o700 })
  removeEnded(`${folder}/${FOLDER}`)
  const isNamed = named !== undefined
  const note = { v: 1, pid, startTime: startTimeOf(pid) ?? null, session, isNamed, ...place() }
  writeWhole(`${folder}/${FOLDER}/${pid}.json`, JSON.stringify(note))
}

/** Forgets the session of the agent's process, unless it has another one by now. */
export const forgetProcess = (folder: string, session: string, named: string | undefined): void => {
  const pid = agentPid(named)
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

/** Looks for the process of the agent that has a session, as hooks have noted it. */
export const agentOf = (folder: string, session: string): AgentPresence => {
  const notes = namesIn(`${folder}/${FOLDER}`).flatMap((name) => noteIn(`${folder}/${FOLDER}/${name}`) ?? [])
  // Without /proc nobody knows whether a parent was the agent, or a shell in between that ends at once.
  const own = notes.filter((note) => note.session === session && (note.isNamed || note.startTime !== null))
  if (own.length === 0) return 'unknown'
  if (own.some(isElsewhere)) return 'elsewhere'
  return own.some(({ pid }) => isRunning(pid) && noted(folder, pid) === session) ? 'live' : 'gone'
}

const isElsewhere = (note: ProcessNote): boolean => {
  const { host, pids } = place()
  return note.host !== host || note.pids !== pids
}

/** Where a process id means something. */
const place = () => ({ host: hostname(), pids: pidNamespace() ?? null })

const namesIn = (path: string): readonly string[] => {
  try {
    return readdirSync(path).filter((name) => name.endsWith('.json'))
  } catch {
    return []
  }
}

/** The process that the agent named to its hook; else the parent, or the one that started the shell in between. */
const agentPid = (named = ''): number => {
  if (/^[1-9]\d{0,9}$/.test(named)) return Number(named)
  let pid = process.ppid
  for (let steps = 0; steps < FARTHEST; steps += 1) {
    const parent = parentOf(pid)
    if (parent === undefined || !SHELL.test(parent.name) || parent.parent <= 1) return pid
    pid = parent.parent
  }
  return process.ppid
}

const noted = (folder: string, pid: number): string | undefined => {
  const note = noteIn(`${folder}/${FOLDER}/${pid}.json`)
  // Another process may have got the same number since.
  return note !== undefined && note.startTime === (startTimeOf(pid) ?? null) ? note.session : undefined
}

interface ProcessNote {
  readonly pid: number
  readonly session: string
  readonly startTime: unknown
  readonly isNamed: boolean
  readonly host: unknown
  readonly pids: unknown
}

const noteIn = (path: string): ProcessNote | undefined => {
  try {
    const note: unknown = JSON.parse(readOwnFile(path, MOST_BYTES) ?? '')
    if (!isRecord(note) || note.v !== 1 || !isFileName(note.session)) return undefined
    const { session, startTime, host, pids } = note
    return { pid: Number(note.pid), session, startTime, host, pids, isNamed: note.isNamed === true }
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

const startTimeOf = (pid: number): string | undefined => readProcess(pid)?.startTime

const parentOf = (pid: number): { readonly name: string; readonly parent: number } | undefined => {
  const stat = statOf(pid)
  return stat && { name: stat.name, parent: Number(stat.fields[1]) }
}

const removeEnded = (path: string): void => {
  const names = readdirSync(path)
  if (names.length <= MANY) return
  removeAbandoned(path)
  for (const name of names.filter((each) => each.endsWith('.json'))) {
    const note = noteIn(`${path}/${name}`)
    const isOthers = note !== undefined && isElsewhere(note)
    if (!isOthers && !isRunning(Number.parseInt(name, 10))) rmSync(`${path}/${name}`, { force: true })
  }
}

const isRunning = (pid: number): boolean => Number.isSafeInteger(pid) && isTaken(pid)
