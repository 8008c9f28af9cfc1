import { createHash, randomUUID } from 'node:crypto'
import { statSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { bootId, pidNamespace, readProcess } from '../../processes/process-table.ts'
import { type Fate, fateOf } from './process-fate.ts'

/** The kinds of files that we make for moments, beside the ones that they are for: locks of a folder, and drafts. */
export type OwnKind = 'lock' | 'new'

/** A file of ours, as its name tells. */
export interface TemporaryFile {
  readonly name: string
  readonly kind: OwnKind
  readonly id: string
  readonly pid: number
  readonly start: string
  readonly machine: string
  readonly namespace: string
}

const NAME = /^\.batonpass-(lock|new)-(\d+)-(\d+)-([0-9a-f]{8})-(\d+)-([0-9a-f-]{36})$/

/** Of a process that cannot be looked at from here, a file this old is not in use any more: it is for moments. */
const GONE_MS = 60_000

/** A new name that says which process made it. Everything is in the name, so nobody ever reads half of it. */
export const ownName = (kind: OwnKind): string =>
  `.batonpass-${kind}-${process.pid}-${startOf(process.pid)}-${machine()}-${namespace()}-${randomUUID()}`

/** Reads such a name; undefined for the files of others. */
export const readOwnName = (name: string): TemporaryFile | undefined => {
  const [, kind, pid, start = '', made = '', space = '', id = ''] = NAME.exec(name) ?? []
  if (kind !== 'lock' && kind !== 'new') return undefined
  return { name, kind, id, pid: Number(pid), start, machine: made, namespace: space }
}

/** Whether the process that made a file is gone. Where that cannot be seen, its age tells. */
export const isAbandoned = (folder: string, file: TemporaryFile): boolean => {
  const fate = fateOfMaker(file)
  if (fate !== 'unknown') return fate === 'gone'
  const made = statSync(join(folder, file.name), { throwIfNoEntry: false })
  return made === undefined || Date.now() - made.mtimeMs > GONE_MS
}

const fateOfMaker = ({ pid, start, ...made }: TemporaryFile): Fate => {
  if (made.machine !== machine() || made.namespace !== namespace()) return 'unknown'
  return fateOf(pid, start === '0' ? undefined : start)
}

const startOf = (pid: number): string => readProcess(pid)?.startTime || '0'

/** The run of this machine; where no system names it, the machine. */
const machine = (): string =>
  createHash('sha256')
    .update(bootId() ?? hostname())
    .digest('hex')
    .slice(0, 8)

const namespace = (): string => /\d+/.exec(pidNamespace() ?? '')?.[0] ?? '0'
