import { closeSync, constants, fstatSync, openSync, writeSync } from 'node:fs'
import { CAREFULLY } from '../files/own-files.ts'

type Environment = Readonly<Record<string, string | undefined>>

/** Names the session inside of whose tools a program runs. */
const VARIABLE = 'BATONPASS_WITHIN'

/** The session inside of whose tools this one was started, where it is another one. It continues nobody's work. */
export const startedWithin = (environment: Environment, session: string): string | undefined => {
  const within = environment[VARIABLE]
  return within === session || within === '' ? undefined : within
}

/** Lets everything that the tools of this session start know where it is, where the runtime has a file for that. */
export const nameForTools = (path: string | undefined, session: string): void => {
  if (path === undefined || path === '') return
  const { O_WRONLY, O_APPEND, O_CREAT } = constants
  const file = openSync(path, O_WRONLY | O_APPEND | O_CREAT | CAREFULLY, 0o600)
  try {
    // The name of a session has no character in it that means something to a shell.
    if (fstatSync(file).isFile()) writeSync(file, `export ${VARIABLE}='${session}'\n`)
  } finally {
    closeSync(file)
  }
}
