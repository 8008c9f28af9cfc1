import { closeSync, constants, fstatSync, ftruncateSync, openSync, writeSync } from 'node:fs'
import { CAREFULLY } from '../files/own-files.ts'

/** Over this the log begins anew: it is read by `baton doctor`, and nobody needs last month's. */
const MOST_BYTES = 64 * 1024
const LONGEST = 300

/** Where a hook says what went wrong: in a file of the service's folder, for a hook's own output belongs to the runtime. */
export class HookLog {
  readonly #folder: string
  readonly #event: string
  readonly #isShown: boolean

  constructor(folder: string, event: string, isShown: boolean) {
    this.#folder = folder
    this.#event = event
    this.#isShown = isShown
  }

  /** Writes a problem down. It holds no text of the input, and never fails. */
  tell(problem: string): void {
    const line = { at: new Date().toISOString(), event: this.#event, problem: problem.slice(0, LONGEST) }
    this.debug(line.problem)
    try {
      append(`${this.#folder}/hook.log`, `${JSON.stringify(line)}\n`)
    } catch (cause) {
      this.debug(`hook.log: ${cause instanceof Error ? cause.message : 'unknown'}`)
    }
  }

  /** Says something on standard error, if `BATONPASS_HOOK_DEBUG` asks for it. */
  debug(text: string): void {
    if (!this.#isShown) return
    try {
      writeSync(2, `baton hook ${this.#event}: ${text}\n`)
    } catch {
      // nobody listens
    }
  }
}

const append = (path: string, line: string): void => {
  const { O_WRONLY, O_APPEND, O_CREAT } = constants
  const file = openSync(path, O_WRONLY | O_APPEND | O_CREAT | CAREFULLY, 0o600)
  try {
    const found = fstatSync(file)
    if (!found.isFile()) throw new Error('it is not a plain file')
    if (found.size > MOST_BYTES) ftruncateSync(file, 0)
    writeSync(file, line)
  } finally {
    closeSync(file)
  }
}
