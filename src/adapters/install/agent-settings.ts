import { join } from 'node:path'
import { homeOf } from '../place/home-folder.ts'

/** The hooks of Claude Code that are answered, and the word of each after `baton hook`. */
export const CLAUDE_HOOKS = {
  SessionStart: 'session-start',
  UserPromptSubmit: 'user-prompt-submit',
  PostToolBatch: 'post-tool-use',
  PreCompact: 'pre-compact',
  PostCompact: 'post-compact',
  Stop: 'stop',
  SessionEnd: 'session-end',
} as const

/** The hooks of Codex that are answered. It has no status line that another program draws. */
export const CODEX_HOOKS = {
  SessionStart: 'session-start',
  UserPromptSubmit: 'user-prompt-submit',
  PreCompact: 'pre-compact',
  PostCompact: 'post-compact',
  Stop: 'stop',
  SessionEnd: 'session-end',
} as const

/** The word of the status line. It is a setting of its own in Claude Code, beside the hooks. */
export const STATUS_LINE = 'statusline'

const EVENTS: readonly string[] = [STATUS_LINE, ...Object.values(CLAUDE_HOOKS)]

type Environment = Readonly<Record<string, string | undefined>>

/** Where the settings of terminal agents are looked for. */
export interface AgentPlace {
  readonly environment: Environment
  readonly workingFolder: string
}

/** The scopes of Claude's settings: all projects of a person, one project for everybody, one project for one person. */
export const CLAUDE_SCOPES = ['user', 'project', 'local'] as const

/** One of the scopes. */
export type ClaudeScope = (typeof CLAUDE_SCOPES)[number]

/** The folder in which Claude Code keeps what belongs to a person. */
const claudeFolder = (environment: Environment): string =>
  environment.CLAUDE_CONFIG_DIR || join(homeOf(environment), '.claude')

/** The folder `.claude` of a scope. */
export const claudeFolderOf = (scope: ClaudeScope, { environment, workingFolder }: AgentPlace): string =>
  scope === 'user' ? claudeFolder(environment) : join(workingFolder, '.claude')

/** The file in which Claude Code looks for hooks and the status line of a scope. */
export const claudeSettingsOf = (scope: ClaudeScope, place: AgentPlace): string =>
  join(claudeFolderOf(scope, place), scope === 'local' ? 'settings.local.json' : 'settings.json')

/** The file that Claude Code itself writes all the time; a person's MCP servers are in it too. */
export const claudeOwnFile = (environment: Environment): string =>
  join(environment.CLAUDE_CONFIG_DIR || homeOf(environment), '.claude.json')

/** The folder of Codex. */
export const codexFolder = (environment: Environment): string =>
  environment.CODEX_HOME || join(homeOf(environment), '.codex')

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
