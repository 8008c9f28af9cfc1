import { existsSync } from 'node:fs'
import { basename, dirname } from 'node:path'
import type { Environment } from '../../ports/system/environment.ts'
import { quoted } from '../../processes/quoted.ts'
import { isOwnFolder } from '../files/own-files.ts'
import { homeStore } from './home-folder.ts'
import type { ChosenStore, StoreQuestion } from './store-rule.ts'

/** Whether a folder has an embedded store in it. */
export const hasStore = (folder: string): boolean => existsSync(`${folder}/data`)

type Surroundings = Pick<StoreQuestion, 'environment' | 'workingFolder'>

/** The things a person should know about a choice, line by line: a folder that is not used, a variable that is not read. */
export const remarksOn = (
  { strangers, unread }: Pick<ChosenStore, 'strangers' | 'unread'>,
  around: Surroundings,
): readonly string[] => [
  ...(unread === undefined ? [] : [unreadText(unread)]),
  ...strangers.flatMap((folder) => strangerLines(folder, around)),
]

const unreadText = (variable: string): string => {
  const flag = variable.endsWith('_FILE') ? '--database-file' : '--database'
  return `${variable} is set and is not read: it is often the project's own database. Set BATONPASS_${variable}, or ${flag}.`
}

/** Each command stands alone at the end of its line, so that it can be copied. */
const strangerLines = (folder: string, { environment, workingFolder }: Surroundings): readonly string[] => {
  const isHere = workingFolder !== undefined && dirname(folder) === workingFolder
  const project = isHere ? '' : ` ${quoted(dirname(folder))}`
  const once = `  To use it once, add: --data-dir ${quoted(isHere ? basename(folder) : folder)}`
  if (!isOwnFolder(folder)) return [`${folder} is not used: it is no folder of yours, or a link to one.`, once]
  return [
    `${folder} is not used: it is not on your list of stores, so it may be an older one or have come with a repository.`,
    `  To use it for this project: baton init --adopt${project}`,
    ...(isMovable(folder, environment) ? [`  To make it your own store: baton init --move${project}`] : []),
    once,
  ]
}

/** Whether a store may become the person's own: there is something in it, and nothing in the home folder. */
const isMovable = (folder: string, environment: Environment): boolean =>
  hasStore(folder) && !hasStore(homeStore(environment))
