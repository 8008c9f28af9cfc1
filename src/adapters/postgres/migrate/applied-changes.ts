import { StoreFailure } from '../../../ports/store/store-failure.ts'
import { isFunctions, type Migration } from './migration-files.ts'

/** The changes that were applied to a schema: when, and of functions what they were made of. */
export type Applied = ReadonlyMap<string, { readonly at: string; readonly digest: string | null }>

/** Changes that were applied and that this program does not know. */
export const unknownOf = (migrations: readonly Migration[], applied: Applied): readonly string[] =>
  [...applied.keys()].filter((name) => !migrations.some((migration) => migration.name === name))

/** Tables are applied once; functions again when they are made of something else. */
export const isPending = ({ name, digest }: Migration, applied: Applied): boolean => {
  const standing = applied.get(name)
  return standing === undefined || (digest !== undefined && standing.digest !== digest)
}

/** The first change of every store that was made before the changes were numbered anew. */
const OLD_FIRST = '0001_conversations'

/** Whether these changes were applied by a program of before the first release. They cannot be carried on. */
export const isOldNumbering = (names: Iterable<string>): boolean => [...names].includes(OLD_FIRST)

/** Says that a schema is such a one. */
export const WHAT_IS_OLD = `the schema was made before the first release, 0.1 (it has ${OLD_FIRST}), and cannot be carried on`

/** Says how to work without it. */
export const WHAT_TO_DO_WITH_OLD =
  'Keep it for reading with the program that made it, and use another schema, database or folder; or drop it, and run ' +
  '"baton migrate up".'

/** Refuses a schema of before the first release. */
const refuseOld = (names: Iterable<string>): void => {
  if (!isOldNumbering(names)) return
  throw new StoreFailure('store.old_numbering', `${WHAT_IS_OLD.replace(/^t/, 'T')}. ${WHAT_TO_DO_WITH_OLD}`)
}

/** Refuses a schema that this program does not carry on: one of before the first release, or of a newer program. */
export const refuseForeign = (migrations: readonly Migration[], applied: Applied): void => {
  refuseOld(applied.keys())
  // Functions of another version stand beside ours while one program replaces the other.
  const unknown = unknownOf(migrations, applied).filter((name) => !isFunctions(name))
  if (unknown.length === 0) return
  throw new StoreFailure(
    'store.newer_schema',
    `The database has ${unknown.join(', ')}, which this program does not know. Use a newer version of Batonpass.`,
  )
}
