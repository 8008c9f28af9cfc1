import { TERMINAL_HOOKS, type TerminalHook } from '../../ports/terminal/wire.ts'

/** The word of the status line. It is a setting of its own in Claude Code, beside the hooks. */
export const STATUS_LINE: TerminalHook = 'statusline'

const EVENTS: readonly string[] = TERMINAL_HOOKS

/** A command of ours in somebody's settings, in its parts. */
export interface OwnHook {
  /** The words before `hook`. */
  readonly program: string
  readonly event: string
  /** Everything after the event. */
  readonly rest: string
  /** The command does other things too, so it is the person's, who calls ours in it. */
  readonly isMixed: boolean
}

/**
 * Words of a shell that start our program whatever the PATH of the agent is. They are followed by the Node that installed it
 * and by the program's file: if that Node has gone, one on the PATH takes its place, and if the file has, `baton` on the PATH.
 * Where nothing is there, nothing is said and the status is 0: a hook that fails is shown to the person at every prompt. The
 * status line that the person had before is drawn all the same.
 */
export const LAUNCH = [
  ': batonpass',
  'for n in "$0" node; do [ -f "$1" ] && command -v "$n" >/dev/null && exec "$n" "$@"; done',
  'shift',
  'command -v node >/dev/null && command -v baton >/dev/null && exec baton "$@"',
  'while [ $# -gt 1 ]; do [ "$1" = --then ] && exec /bin/sh -c "$2"; shift; done',
  ':',
].join('; ')

/** The words of another version are ours too, so they are known by how they begin. */
const LAUNCHER = /^\/bin\/sh -c ': batonpass;[^']*' /

/** The words after those of the shell: a Node and the program's file. Absent where a command has none of them. */
export const launchedBy = (program: string): string | undefined =>
  LAUNCHER.test(program) ? program.replace(LAUNCHER, '') : undefined

const CALL = /^(.*?)\shook\s+([a-z-]+)(?=["'\s]|$)(.*)$/s
const PROGRAM = /(?:^|[\s"'/\\])(?:baton(?:\.cmd|\.js|\.mjs)?|batonpass)(?=["'\s]|$)|cli\/main\.(?:js|ts)(?=["'\s]|$)/
const SHELL_WORDS = /[;&|`\n]|\$\(/

/** Finds a call of ours in a command. */
export const ownHookIn = (command: string): OwnHook | undefined => {
  const [, before = '', event = '', rest = ''] = CALL.exec(command.trim()) ?? []
  const program = before.trimEnd()
  if (!isOwnProgram(program) || !EVENTS.includes(event)) return undefined
  const words = launchedBy(program) ?? program
  return { program, event, rest, isMixed: SHELL_WORDS.test(words) || SHELL_WORDS.test(withoutQuotes(rest)) }
}

/** Whether the words before `hook` start a program of ours. */
export const isOwnProgram = (program: string): boolean => PROGRAM.test(program)

/** Whether a plugin is ours, whatever marketplace it is from. */
export const isOwnPlugin = (name: string): boolean => name.startsWith('baton@')

/** Read from left to right: a quote after a backslash opens nothing. */
const withoutQuotes = (words: string): string => words.replaceAll(/\\.|'[^']*'|"(?:\\.|[^"\\])*"/gs, '')
