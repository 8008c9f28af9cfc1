import { execFileSync } from 'node:child_process'
import { accessSync, constants, statSync } from 'node:fs'
import { delimiter, join, resolve, sep } from 'node:path'
import type { ProcessIdentity } from '../domain/session/process-identity.ts'
import { Child, type ChildStart } from './child.ts'
import { identityOf, newMark } from './left-process.ts'

/** Everything that the process of an agent is started with. */
export interface AgentStart extends ChildStart {
  /** Is told of the process, so that it can be ended when we are gone. */
  readonly onProcess?: ((process: ProcessIdentity) => unknown) | undefined
}

/** The process of an agent: marked, and tied to us where that is possible. */
export interface AgentChild {
  readonly child: Child
  /** Resolves once the process is on record, so that it may be given work. */
  readonly recorded: Promise<void>
}

/** Starts the process of an agent. */
export const startAgent = ({ onProcess, ...start }: AgentStart): AgentChild => {
  const { mark, environment } = newMark()
  const child = new Child({ ...start, command: tied(start), env: { ...start.env, ...environment } })
  const recorded = record(child, mark, onProcess)
  recorded.catch(() => {}) // the caller that gives it work sees the failure
  return { child, recorded }
}

const record = async ({ pid }: Child, mark: string, onProcess: AgentStart['onProcess']): Promise<void> => {
  const identity = pid === undefined ? undefined : identityOf(mark, pid)
  if (identity !== undefined) await onProcess?.(identity)
}

/** A line that only the shell of Windows knows is left as it is. */
const tied = ({ command, cwd, env }: ChildStart): ChildStart['command'] => {
  if (typeof command === 'string' && process.platform === 'win32') return command
  const [program = '', ...args] = typeof command === 'string' ? ['/bin/sh', '-c', command] : command
  const wrapped = dyingWithUs({ command: program, args }, { cwd, env })
  return [wrapped.command, ...wrapped.args]
}

/** A program and its arguments. */
interface Program {
  readonly command: string
  readonly args: readonly string[]
}

/** How a program is found. */
interface Place {
  readonly cwd?: string | undefined
  readonly env: Readonly<Record<string, string | undefined>>
}

/** The kernel sends it when we end, however we end. TERM, so that an agent can end its tools. */
const WRAPPER = ['--pdeathsig', 'TERM', '--'] as const

let lookedUp: { readonly setpriv: string | undefined } | undefined

/** The `setpriv` of Linux that can tie a process to its parent, if there is one. Looked for once. */
const setpriv = (): string | undefined => {
  lookedUp ??= { setpriv: process.platform === 'linux' ? usableSetpriv() : undefined }
  return lookedUp.setpriv
}

const usableSetpriv = (): string | undefined => {
  const found = locate('setpriv', { env: process.env })
  if (found === undefined) return undefined
  try {
    // That of busybox knows no --pdeathsig.
    execFileSync(found, [...WRAPPER, 'true'], { stdio: 'ignore', env: { PATH: process.env.PATH } })
    return found
  } catch {
    return undefined
  }
}

/**
 * The same program, tied to this process where that is possible: it is asked to end when we are gone, even killed. A
 * program that is not there is left as it is, so that its caller gets the error.
 */
const dyingWithUs = ({ command, args }: Program, place: Place): Program => {
  const wrapper = setpriv()
  const found = wrapper === undefined ? undefined : locate(command, place)
  if (wrapper === undefined || found === undefined) return { command, args }
  return { command: wrapper, args: [...WRAPPER, found, ...args] }
}

const locate = (command: string, { cwd = process.cwd(), env }: Place): string | undefined => {
  const places = command.includes(sep)
    ? [resolve(cwd, command)]
    : (env.PATH ?? '').split(delimiter).map((folder) => resolve(cwd, join(folder, command)))
  return places.find(isProgram)
}

const isProgram = (path: string): boolean => {
  try {
    accessSync(path, constants.X_OK)
    return statSync(path).isFile()
  } catch {
    return false
  }
}
