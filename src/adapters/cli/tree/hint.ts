import { resolve } from 'node:path'
import { onOneLine } from '../../../domain/kernel/safe-text.ts'
import { quoted } from '../../../processes/quoted.ts'
import type { CliCommand, FlagValue } from '../invocation/invocation.ts'
import { maskedAddress } from '../render/store-name.ts'
import { CLI_COMMANDS } from './index.ts'

type Values = Readonly<Record<string, FlagValue | undefined>>

/** The flags that name a store, and how each is typed again, wherever that is done. */
const STORE_WORDS: Readonly<Record<string, (value: string) => string>> = {
  database: (address) =>
    // A password is not repeated. Without the variable the command is refused, and names the flag.
    `--database ${maskedAddress(address) === address ? quoted(address) : '$BATONPASS_DATABASE_URL'}`,
  'database-file': (file) => `--database-file ${quoted(resolve(file))}`,
  'data-dir': (folder) => `--data-dir ${quoted(resolve(folder))}`,
  schema: (name) => `--schema ${quoted(name)}`,
  pooled: () => '--pooled',
}

/**
 * A command for a person to type, which works in the store that this command was told to use. A store that nobody named is
 * found by the same rule again.
 */
export const hint = (words: string, values: Values): string => {
  const { flags = {} } = commandIn(words) ?? {}
  const named = Object.entries(STORE_WORDS).flatMap(([name, typed]) => {
    const value = values[name]
    const isKnown = name in flags && value !== undefined && value !== false && !words.includes(`--${name}`)
    return isKnown ? [typed(String(value))] : []
  })
  // A name that could steer a terminal is spelled out: it cannot be typed, and it obeys nobody.
  return onOneLine([words, ...named].join(' '))
}

const commandIn = (words: string): CliCommand | undefined => {
  const [, first = '', second = ''] = words.split(' ')
  const commands: Readonly<Record<string, CliCommand>> = CLI_COMMANDS
  return commands[`${first} ${second}`] ?? commands[first]
}
