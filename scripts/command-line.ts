import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { EXIT, EXIT_MEANINGS } from '../src/adapters/cli/invocation/exit-codes.ts'
import type { CliCommand, Flag } from '../src/adapters/cli/invocation/invocation.ts'
import { STORE_FLAGS } from '../src/adapters/cli/invocation/store-flags.ts'
import { CLI_COMMANDS } from '../src/adapters/cli/tree/index.ts'
import { filled } from './docs.ts'

/** The reference of the command line. */
export const REFERENCE = 'docs/command-line.md'

/** Shown once, and not again for each command. */
const EVERYWHERE: readonly string[] = Object.keys(STORE_FLAGS)

const cell = (text: string): string => text.replaceAll('|', '\\|')

const flagRow = ([name, { value: named, help, words, isValueOptional }]: readonly [string, Flag]): string => {
  const value = isValueOptional === true ? `[${named}]` : named
  const said = words === undefined ? help : `${help}: ${words.map((word) => `\`${word}\``).join(', ')}`
  return `| \`--${name}${value === undefined ? '' : ` ${value}`}\` | ${cell(said)} |`
}

const flagTable = (flags: readonly (readonly [string, Flag])[]): string =>
  ['| flag | meaning |', '| --- | --- |', ...flags.map(flagRow)].join('\n')

const section = ([name, { summary, takes, details, flags }]: readonly [string, CliCommand]): string => {
  const own = Object.entries(flags).filter(([flag]) => !EVERYWHERE.includes(flag))
  const isOnStore = EVERYWHERE.every((flag) => flag in flags)
  const others = isOnStore ? 'and the flags of every command on a store' : 'json' in flags ? 'and `--json`' : ''
  return [
    `### \`baton ${name}${takes === undefined ? '' : ` ${takes}`}\``,
    `${summary.charAt(0).toUpperCase()}${summary.slice(1)}.`,
    ...(details === undefined ? [] : [details]),
    ...(own.length === 0 ? [] : [flagTable(own)]),
    ...(others === '' ? [] : [own.length === 0 ? `Takes${others.slice('and'.length)}.` : `… ${others}.`]),
  ].join('\n\n')
}

const statusRow = ([name, status]: readonly [string, number]): string =>
  `| ${status} | ${EXIT_MEANINGS[name as keyof typeof EXIT]} |`

const PARTS: Readonly<Record<string, string>> = {
  'store flags': flagTable(Object.entries(STORE_FLAGS)),
  commands: `\n${Object.entries(CLI_COMMANDS).map(section).join('\n\n')}\n`,
  'exit statuses': ['| exit status | meaning |', '| --- | --- |', ...Object.entries(EXIT).map(statusRow)].join('\n'),
}

/** The page with every generated part as the command tree has it now. */
export const renderReference = (text: string): string => filled(text, PARTS)

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  writeFileSync(REFERENCE, renderReference(readFileSync(REFERENCE, 'utf8')))
}
