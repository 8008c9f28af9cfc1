import { mkdirSync, mkdtempSync, realpathSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { makeProject } from '../../src/main/project-store.ts'

/** A situation in which somebody asks for a store, and the one that is to be used. */
export interface Situation {
  readonly name: string
  /** Flags by name, without the dashes. */
  readonly flags?: Readonly<Record<string, string>>
  readonly environment?: Readonly<Record<string, string>>
  readonly workingFolder: string
  /** The store by the name that a person is told, or a part of the refusal. */
  readonly store?: string
  readonly refusal?: string
  /** The folder of its service. */
  readonly service?: string | RegExp
  /** Parts of the remarks on the side; none unless given. */
  readonly remarks?: readonly string[]
}

/** Folders, and every situation in them. Each store in them fails to open at once, so that nothing is made anywhere. */
export const situationsIn = () => {
  const room = realpathSync(mkdtempSync(join(tmpdir(), 'batonpass-rule-')))
  const unopenable = (path: string): string => {
    mkdirSync(join(path, 'data'), { recursive: true, mode: 0o700 })
    writeFileSync(join(path, 'data', 'no-database'), '')
    return path
  }
  const folder = (...names: readonly string[]): string => {
    const path = join(room, ...names)
    unopenable(join(path, 'batonpass-demo'))
    return path
  }
  const home = folder('home')
  const environment = { HOME: home }
  const own = unopenable(join(home, '.batonpass'))
  const [plain, job, src] = [folder('plain'), folder('home', 'job'), folder('home', 'job', 'src')]
  const [cloned, deep] = [folder('cloned'), folder('cloned', 'a', 'b')]
  const project = join(job, '.batonpass')
  makeProject({ folder: job, environment, workingFolder: job })
  unopenable(project)
  const strange = unopenable(join(cloned, '.batonpass'))
  const [named, other] = [unopenable(join(room, 'named')), unopenable(join(room, 'other'))]
  const url = 'postgres://ada@127.0.0.1:1/none'
  const file = join(room, 'url')
  writeFileSync(file, `${url}\n`, { mode: 0o600 })
  const server = `${url}, schema batonpass`
  const ofServer = new RegExp(`^${own}/servers/none-[0-9a-f]{12}$`)
  const embedded = (path: string): string => `embedded, in ${path}`
  const filed = `the Postgres server named in ${file}, schema batonpass`
  const unread = "DATABASE_URL is set and is not read: it is often the project's own database."
  const situations: readonly Situation[] = [
    {
      name: '--data-dir',
      ...{ flags: { 'data-dir': named }, environment: { BATONPASS_DATA_DIR: other, DATABASE_URL: url } },
      ...{ workingFolder: src, store: embedded(named), service: named },
    },
    {
      name: '--database',
      ...{ flags: { database: url }, environment: { BATONPASS_DATA_DIR: other } },
      ...{ workingFolder: src, store: server, service: ofServer },
    },
    {
      name: '--database-file',
      ...{ flags: { 'database-file': file }, environment: { BATONPASS_DATABASE_URL: '' } },
      ...{ workingFolder: src, store: filed, service: ofServer },
    },
    {
      name: 'BATONPASS_DATABASE_URL',
      ...{ environment: { BATONPASS_DATABASE_URL: url, DATABASE_URL: 'postgres://of-the/project' } },
      ...{ workingFolder: src, store: server, service: ofServer },
    },
    {
      name: 'BATONPASS_DATABASE_URL_FILE',
      ...{ environment: { BATONPASS_DATABASE_URL_FILE: file }, workingFolder: src, store: filed, service: ofServer },
    },
    {
      name: 'BATONPASS_DATA_DIR',
      ...{ environment: { BATONPASS_DATA_DIR: other }, workingFolder: src, store: embedded(other), service: other },
    },
    { name: 'a project store here', workingFolder: job, store: embedded(project), service: project },
    { name: 'a project store above', workingFolder: src, store: embedded(project), service: project },
    {
      name: 'a project store above, and DATABASE_URL',
      ...{ environment: { DATABASE_URL: url }, workingFolder: src, store: embedded(project), service: project },
      remarks: [unread],
    },
    {
      name: 'an unknown folder here',
      ...{ workingFolder: cloned, store: embedded(own), service: own },
      remarks: [`${strange} is not used`, 'baton init --adopt\n', '--data-dir .batonpass\n'],
    },
    {
      name: 'an unknown folder above',
      ...{ workingFolder: deep, store: embedded(own), service: own },
      remarks: [`${strange} is not used`, `baton init --adopt ${cloned}\n`, `--data-dir ${strange}\n`],
    },
    { name: 'nothing', workingFolder: plain, store: embedded(own), service: own },
    { name: 'nothing, in the home folder', workingFolder: home, store: embedded(own), service: own },
    {
      name: 'DATABASE_URL',
      ...{ environment: { DATABASE_URL: url }, workingFolder: plain, store: embedded(own), service: own },
      remarks: [unread],
    },
    {
      name: 'DATABASE_URL_FILE, empty',
      ...{ environment: { DATABASE_URL_FILE: '' }, workingFolder: plain, store: embedded(own), service: own },
      remarks: ['Set BATONPASS_DATABASE_URL_FILE, or --database-file.'],
    },
    {
      name: 'two variables',
      environment: { BATONPASS_DATABASE_URL: url, BATONPASS_DATA_DIR: other },
      ...{ workingFolder: src, refusal: 'BATONPASS_DATABASE_URL and BATONPASS_DATA_DIR are both set' },
    },
    ...['BATONPASS_DATABASE_URL', 'BATONPASS_DATABASE_URL_FILE', 'BATONPASS_DATA_DIR'].map((variable) => ({
      name: `an empty ${variable}`,
      ...{ environment: { [variable]: ' ' }, workingFolder: src, refusal: `${variable} is empty` },
    })),
    {
      name: 'no home folder',
      ...{ environment: { HOME: join(room, 'nowhere') }, workingFolder: plain, refusal: 'There is no home folder' },
    },
  ]
  return { room, environment, home, own, job, src, project, cloned, strange, plain, situations }
}
