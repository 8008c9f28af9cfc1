// Parts for `baton status` and `baton doctor`. The engines are loaded when a check needs one.

import { hooksFiring } from '../adapters/doctor/hooks-firing.ts'
import { hooksInstalled } from '../adapters/doctor/hooks-installed.ts'
import { hidingSecrets, secretsIn } from '../adapters/doctor/report-secrets.ts'
import {
  type AskHealth,
  findService as findServiceOf,
  type ServiceState,
  serviceRuns,
} from '../adapters/doctor/service-check.ts'
import { spooledEvents } from '../adapters/doctor/spool-check.ts'
import { configurationFile, leftovers, nodeVersion } from '../adapters/doctor/surroundings.ts'
import { toolServers } from '../adapters/doctor/tool-servers.ts'
import { askRunningService } from '../adapters/hook-client/ask-service.ts'
import { ExaminedStore } from '../adapters/postgres/health/examined-store.ts'
import { feedStanding } from '../adapters/postgres/health/feed-check.ts'
import { diskSpace, folderRights, lockState } from '../adapters/postgres/health/folder-checks.ts'
import {
  roleHasRights,
  rowsAreFormed,
  schemaIsUnchanged,
  schemaStanding,
} from '../adapters/postgres/health/schema-checks.ts'
import { clockDifference, lostCommits, poolerBetween, storeOpens } from '../adapters/postgres/health/server-checks.ts'
import { defined } from '../domain/kernel/defined.ts'
import { describeThrown } from '../domain/kernel/describe-thrown.ts'
import type { Examined, Finding, HealthCheck } from '../ports/system/health-check.ts'
import { examine } from '../services/doctor/examination.ts'
import { readConfiguration } from './configuration.ts'
import { storePlaceIn } from './open-store.ts'
import type { StoreOptions } from './options.ts'
import { TERMINAL_AGENTS } from './runtimes.ts'

/** Everything that is looked at: where, and as which program. */
export interface DoctorPlace {
  /** The folder of the service and the hooks. */
  readonly folder: string
  /** The store that was chosen, what it is called and why it is this one; or why none could be chosen. */
  readonly store:
    | {
        readonly options: StoreOptions
        readonly name: string
        readonly why: string
        /** Lines that a person should know about the choice, such as a folder that is not used. */
        readonly remarks: readonly string[]
      }
    | { readonly problem: string }
  readonly environment: Readonly<Record<string, string | undefined>>
  readonly workingFolder: string
  /** The version of this program. */
  readonly program: string
}

type Check = (around: Around) => Promise<readonly Finding[]>

interface Around {
  readonly place: DoctorPlace
  /** The store, and its folder where it is embedded; nothing where none could be chosen. */
  readonly store: ExaminedStore | undefined
  readonly storeProblem: string | undefined
}

const onStore =
  (check: (store: ExaminedStore) => Promise<readonly Finding[]>): Check =>
  async ({ store }) =>
    store === undefined ? [] : check(store)

const onEmbedded =
  (check: (folder: string) => Promise<readonly Finding[]>): Check =>
  async ({ store }) =>
    store?.address.dataDir === undefined ? [] : check(store.address.dataDir)

/** On the folder of the service and on that of the store, which are one as a rule. */
const onFolders =
  (check: (folder: string) => Promise<readonly Finding[]>): Check =>
  async ({ store, place }) => {
    const findings: Finding[] = []
    for (const folder of new Set([store?.address.dataDir ?? place.folder, place.folder]))
      findings.push(...(await check(folder)))
    return findings
  }

/** Every check there is, in the order it is made. */
const CHECKS: Readonly<Record<string, Check>> = {
  node: () => nodeVersion(),
  'store chosen': async ({ place: { store }, storeProblem }) => chosenStore(store, storeProblem),
  'folder rights': onFolders(folderRights),
  'disk space': onEmbedded(diskSpace),
  lock: onEmbedded(lockState),
  store: onStore(storeOpens),
  pooler: onStore(poolerBetween),
  clock: onStore(clockDifference),
  'lost commits': onStore(lostCommits),
  schema: onStore(schemaStanding),
  'schema drift': onStore(schemaIsUnchanged),
  rights: onStore(roleHasRights),
  'broken rows': onStore(rowsAreFormed),
  feed: onStore(feedStanding),
  configuration: ({ place }) => configurationFile(place.workingFolder, readConfiguration),
  ...Object.fromEntries(
    TERMINAL_AGENTS.filter(({ settings }) => settings !== undefined).map((agent): [string, Check] => [
      `${agent.name} hooks`,
      ({ place }) => hooksInstalled(place, agent),
    ]),
  ),
  'tool servers': ({ place }) => toolServers(place, TERMINAL_AGENTS),
  'hooks firing': ({ place }) => hooksFiring(place.folder, place, TERMINAL_AGENTS),
  spool: ({ place: { folder } }) => spooledEvents(folder),
  service: ({ place: { folder, program } }) => serviceRuns(folder, program, askHealth),
  leftovers: onFolders((folder) => leftovers(folder)),
}

const chosenStore = (store: DoctorPlace['store'], problem: string | undefined): readonly Finding[] => {
  if (problem !== undefined || 'problem' in store) {
    const text = problem ?? ('problem' in store ? store.problem : '')
    return [{ result: 'problem', text, repair: 'Mend the flag or the variable that names it.' }]
  }
  const { name, why, remarks } = store
  const chosen: Finding = { result: 'ok', text: `${name} (${why})` }
  return remarks.length === 0 ? [chosen] : [chosen, remarkOn(remarks)]
}

const remarkOn = (remarks: readonly string[]): Finding => ({
  result: 'warning',
  text: remarks.filter((line) => !line.startsWith(' ')).join(' '),
  repair:
    remarks
      .filter((line) => line.startsWith(' '))
      .map((line) => line.trim())
      .join('; ') || 'Name a store, or unset it.',
})

/** Makes every check, and changes nothing. No finding holds a secret. */
export const examineEverything = async (place: DoctorPlace): Promise<readonly Examined[]> => {
  const chosen = addressOf(place.store)
  const store = chosen.address && new ExaminedStore(chosen.address)
  const secrets = [
    ...[chosen.address?.connectionString].flat().flatMap(secretsIn),
    ...secretsIn(place.environment.BATONPASS_DATABASE_URL),
    ...secretsIn(place.environment.DATABASE_URL),
    place.environment.PGPASSWORD ?? '',
  ]
  const around: Around = { place, store, storeProblem: chosen.problem }
  const checks = Object.entries(CHECKS).map(([name, check]): HealthCheck => ({ name, run: () => check(around) }))
  try {
    return await examine(checks, hidingSecrets(secrets))
  } finally {
    // What was found out matters more than whether it could be closed.
    await store?.[Symbol.asyncDispose]().catch(() => {})
  }
}

const addressOf = (
  store: DoctorPlace['store'],
): { readonly address?: ExaminedStore['address']; readonly problem?: string } => {
  if ('problem' in store) return { problem: store.problem }
  const { schema, pooled } = store.options
  try {
    const { database, dataDir } = storePlaceIn(store.options)
    return {
      address: defined({
        connectionString: database,
        dataDir: database === undefined ? dataDir : undefined,
        schema,
        pooled,
      }),
    }
  } catch (error) {
    return { problem: describeThrown(error) }
  }
}

/** How long a service may take to say that it lives. */
const PATIENCE_MS = 1_500

const askHealth: AskHealth = async (folder) =>
  (await askRunningService(folder, { method: 'GET', path: '/health' }, PATIENCE_MS))?.json

/** Looks for the service of a folder, and asks it whether it lives. */
export const findService = (folder: string): Promise<ServiceState> => findServiceOf(folder, askHealth)

export type { ServiceState } from '../adapters/doctor/service-check.ts'
export { homeStore } from '../adapters/place/home-folder.ts'
export { nodeProcesses } from '../adapters/system/node-processes.ts'
