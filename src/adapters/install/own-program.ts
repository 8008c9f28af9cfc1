import { accessSync, constants, readFileSync, realpathSync, statSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import { err, ok, type Result } from '../../domain/kernel/result.ts'
import { quoted } from '../../processes/quoted.ts'
import { isOwnProgram, LAUNCH } from './own-hook.ts'
import type { ServerStart } from './server-entry.ts'

/** How the settings of an agent start our program. */
export interface OwnProgram {
  /** As a person or an agent would type it. */
  readonly words: string
  /** The words of a hook, which a shell reads: they find the program where the PATH does not lead to it. */
  readonly launcher: string
  /** The same for those who start it without a shell. */
  readonly start: ServerStart
  /** Without a path of this machine, for settings that others share. Absent where the name alone does not lead to it. */
  readonly shared?: Pick<OwnProgram, 'launcher' | 'start'>
  /** Sentences a person should know about it. */
  readonly remarks: readonly string[]
}

/** The surroundings of this program. */
export interface ProgramPlace {
  readonly environment: Readonly<Record<string, string | undefined>>
  /** The file that Node runs for `baton`. */
  readonly script: string
  /** The person's own word for it. */
  readonly named?: string
}

const NAME = 'baton'

/** Chooses the words that start this program from anywhere. @returns a sentence where there are none */
export const ownProgram = ({ environment, script, named }: ProgramPlace): Result<OwnProgram, string> => {
  if (named !== undefined) return namedProgram(named)
  const found = onPath(environment)
  const file = found !== undefined && isScript(realpathSync(found)) ? realpathSync(found) : script
  const isCache = /[/\\]_npx[/\\]/.test(file)
  if (found !== undefined) {
    // A copy that npx keeps for a while is not named where the name alone leads to another.
    const there = isFile(file) && !isCache ? launched(file) : SHARED
    return ok({ words: NAME, ...there, shared: SHARED, remarks: [] })
  }
  if (!isFile(file))
    return err(
      'It is not known how to start baton from the settings: name it with --command, such as --command /opt/bin/baton.',
    )
  const remarks = isCache
    ? ['This is a copy that npx keeps for a while. Install batonpass (npm install -g batonpass) and run this again.']
    : []
  return ok({ words: `${quoted(process.execPath)} ${quoted(file)}`, ...launched(file), remarks })
}

const SHELL = '/bin/sh'

const launcherOf = (node: string, script: string): string =>
  `${SHELL} -c '${LAUNCH}' ${[node, script].map(quoted).join(' ')}`

/** The file of the program with the Node that runs now. */
const launched = (script: string): Pick<OwnProgram, 'launcher' | 'start'> => ({
  launcher: launcherOf(process.execPath, script),
  start:
    // Without a shell there may be no sh on Windows.
    process.platform === 'win32'
      ? { command: process.execPath, args: [script] }
      : { command: SHELL, args: ['-c', LAUNCH, process.execPath, script] },
})

/** The name alone. No file is called by an empty name, so `baton` on the PATH is taken. */
const SHARED: Pick<OwnProgram, 'launcher' | 'start'> = {
  launcher: launcherOf('node', ''),
  start: { command: NAME, args: [] },
}

const namedProgram = (named: string): Result<OwnProgram, string> => {
  const words = [...named.matchAll(/'([^']*)'|"([^"\\$`]*)"|([^\s'"]+)/g)].map(([, a, b, c]) => a ?? b ?? c ?? '')
  const [command, ...args] = words
  if (command === undefined || /[;&|`$<>~\n\\]/.test(named.replaceAll(/'[^']*'/g, '')))
    return err('--command takes a program and its words, without anything for a shell but quotes.')
  if (!isOwnProgram(named))
    return err('--command has to name a program called baton: by that name our entries are found again.')
  const launcher = words.map(quoted).join(' ')
  return ok({ words: launcher, launcher, start: { command, args }, remarks: [] })
}

/** The program of that name on the PATH, if it is this package's. Folders that are only there for a while do not count. */
const onPath = ({ PATH = '' }: ProgramPlace['environment']): string | undefined => {
  const folders = PATH.split(delimiter).filter(
    (folder) => folder !== '' && !/node_modules[/\\]\.bin[/\\]?$/.test(folder),
  )
  const first = folders.map((folder) => join(folder, NAME)).find(isExecutable)
  return first !== undefined && isOurs(first) ? first : undefined
}

const isOurs = (program: string): boolean => {
  try {
    const file = realpathSync(program)
    // A package manager puts a link there, or a small script that names the file.
    if (readFileSync(file, 'utf8').slice(0, 4096).includes('batonpass')) return true
    const manifest = JSON.parse(readFileSync(join(dirname(file), '../../../package.json'), 'utf8')) as {
      name?: unknown
    }
    return manifest.name === 'batonpass'
  } catch {
    return false
  }
}

/** A package manager may also put a script of another language there. */
const isScript = (file: string): boolean => /\.[cm]?js$/.test(file)

const isFile = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isFile() === true

const isExecutable = (path: string): boolean => {
  try {
    accessSync(path, constants.X_OK)
    return isFile(path)
  } catch {
    return false
  }
}
