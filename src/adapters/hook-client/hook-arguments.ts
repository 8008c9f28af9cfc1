import type { TerminalAgent } from '../../ports/agent/vendor.ts'
import { TERMINAL_HOOKS, type TerminalHook } from '../../ports/terminal/wire.ts'

/** A command line of `baton hook`, understood as far as possible. */
export interface HookArguments {
  readonly event: TerminalHook
  /** The agent whose hook it is. */
  readonly agent: TerminalAgent
  /** Flags by name; a switch is an empty text. */
  readonly flags: Readonly<Record<string, string | undefined>>
  /** Sentences about words that were not understood. They stop nothing: settings may be newer than the program. */
  readonly problems: readonly string[]
}

const VALUED: readonly string[] = ['runtime', 'data-dir', 'database-file', 'schema', 'width', 'then']
const SWITCHES: readonly string[] = ['no-color']

/**
 * Reads the words after `baton hook`. Absent when they name no hook.
 *
 * @param agents the terminal agents there are; the first is meant unless one is named
 */
export const readArguments = (
  [event, ...words]: readonly string[],
  agents: readonly TerminalAgent[],
): HookArguments | undefined => {
  const [usual] = agents
  if (!isHook(event) || usual === undefined) return undefined
  const flags: Record<string, string> = {}
  const problems: string[] = []
  for (let at = 0; at < words.length; at += 1) {
    const [, name = '', joined] = /^--([a-z-]+)(?:=(.*))?$/s.exec(words[at] ?? '') ?? []
    if (SWITCHES.includes(name)) flags[name] = ''
    else if (!VALUED.includes(name)) problems.push(`a word of the command line was not understood (number ${at + 2})`)
    else if (joined !== undefined) flags[name] = joined
    else {
      const value = words[at + 1]
      if (value === undefined) problems.push(`--${name} has no value`)
      else flags[name] = value
      at += 1
    }
  }
  const { runtime = usual.name } = flags
  const agent = agents.find(({ name }) => name === runtime)
  if (agent === undefined) problems.push(`--runtime is ${noneOf(agents)}: ${usual.name} is assumed`)
  return { event, agent: agent ?? usual, flags, problems }
}

const noneOf = (agents: readonly TerminalAgent[]): string => {
  const names = agents.map(({ name }) => name)
  return names.length === 2 ? `neither ${names.join(' nor ')}` : `none of ${names.join(', ')}`
}

const isHook = (word: string | undefined): word is TerminalHook =>
  (TERMINAL_HOOKS as readonly (string | undefined)[]).includes(word)
