import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { configurationIn } from '../adapters/redaction/redaction-files.ts'
import { defined } from '../domain/kernel/defined.ts'
import { describeThrown } from '../domain/kernel/describe-thrown.ts'
import { CONFIGURATION_FILES } from '../domain/run/run-configuration.ts'
import type { Logger } from '../ports/system/logger.ts'
import type { TerminalDeps } from '../services/terminal/terminal-deps.ts'
import { readConfiguration } from './configuration.ts'

/**
 * Says how terminal sessions are watched: as the configuration of their project does, in their folder or at the root of its
 * repository; else as the person's own, in the folder of the service. Nothing else of such a file counts for them. A file
 * that cannot be used is told to the log, and the session is watched as usual.
 */
export const watchingBy =
  (folder: string, logger: Logger): NonNullable<TerminalDeps['watchingIn']> =>
  async (cwd) => {
    try {
      const file = (cwd === undefined ? undefined : projectFile(cwd)) ?? configurationIn(folder)
      if (file === undefined) return {}
      const { configuration } = await readConfiguration(file)
      const { isEnabled, milestones } = configuration.monitor
      return defined({ isEnabled, milestones, contextLimit: configuration.contextLimit })
    } catch (error) {
      logger.warn(
        { problem: describeThrown(error), cwd },
        'a configuration cannot be used; its sessions are watched as usual',
      )
      return {}
    }
  }

/** The configuration of a folder, or of the repository that it is in. @throws Error when there are several in one place */
const projectFile = (cwd: string): string | undefined => {
  const root = repositoryOf(cwd)
  for (const place of [cwd, ...(root === undefined ? [] : [root])]) {
    const [file, other] = CONFIGURATION_FILES.map((name) => join(place, name)).filter((path) => existsSync(path))
    if (other !== undefined) throw new Error(`There are ${file} and ${other}. Keep one.`)
    if (file !== undefined) return file
  }
  return undefined
}

const repositoryOf = (folder: string): string | undefined => {
  if (existsSync(join(folder, '.git'))) return folder
  const above = dirname(folder)
  return above === folder ? undefined : repositoryOf(above)
}
