import { isRecord } from '../../domain/kernel/record.ts'
import type { Environment } from '../../ports/system/environment.ts'
import { homeStore, workingFolder } from '../place/home-folder.ts'
import { type ServicePlace, serviceOf } from '../place/service-place.ts'
import { chooseStore } from '../place/store-rule.ts'
import type { HookArguments } from './hook-arguments.ts'
import type { RawInput } from './read-input.ts'

/** The service that a hook speaks to; or where to say why it is none, and why. */
export interface HookPlace extends ServicePlace {
  readonly problems: readonly string[]
}

/** The place that the rule for the store gives a hook. It never fails: a hook that does would stop somebody's agent. */
export const hookPlace = (hook: HookArguments, input: RawInput, environment: Environment): HookPlace => {
  const { 'data-dir': given, 'database-file': file, schema } = hook.flags
  const folder = given || undefined
  const named = file ? { databaseFile: file } : folder && { dataDir: folder }
  try {
    const chosen = chooseStore({
      named: named || undefined,
      environment,
      workingFolder: folderOf(hook, input, environment),
    })
    return { ...serviceOf(chosen, { environment, schema, folder }), problems: [] }
  } catch (problem) {
    const why = problem instanceof Error ? problem.message : 'unknown'
    return { folder: homeStore(environment), flags: {}, problems: [`no store could be chosen: ${why}`] }
  }
}

/** The folder of the session's project, which stays the same wherever the agent goes within a session. */
const folderOf = ({ agent }: HookArguments, input: RawInput, environment: Environment): string | undefined => {
  const { workspace, cwd } = input
  const ofRuntime = environment[agent.variables.projectFolder ?? '']
  const ofStatusLine = isRecord(workspace) ? workspace.project_dir : undefined
  const named = [ofRuntime, ofStatusLine, cwd].find((folder) => typeof folder === 'string' && folder !== '')
  return typeof named === 'string' ? named : workingFolder()
}
