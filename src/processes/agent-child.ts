import type { ProcessIdentity } from '../domain/session/process-identity.ts'
import { Child, type ChildStart } from './child.ts'
import { dyingWithUs } from './dies-with-us.ts'
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
  recorded.catch(() => {}) // whoever gives it work is told
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
