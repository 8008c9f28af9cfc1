import { onOneLine } from '../../../domain/kernel/safe-text.ts'
import type { StoreOptions } from '../../../doors.ts'
import { openMigrator } from '../../../migrating.ts'
import type { CliCommand, Invocation } from '../command.ts'
import { UsageError } from '../problems.ts'
import { toJson } from '../render-text.ts'
import { STORE_FLAGS, STORE_FLAGS_HELP, storeOptions, storeToRead, storeToWrite } from '../store-options.ts'

type OpenMigrator = ReturnType<typeof openMigrator>
type MigrationStatus = Awaited<ReturnType<OpenMigrator['migrator']['status']>>[number]

/** Applies what is pending. */
export const migrateUp: CliCommand = {
  summary: 'apply what the schema lacks',
  usage: 'migrate up [--database URL | --data-dir DIR] [--schema NAME] [--json]',
  details: `Any number of processes may do this at once; each change is applied once.\n\n${STORE_FLAGS_HELP}`,
  options: STORE_FLAGS,
  run: async (invocation) => {
    noMoreThan(0, invocation)
    await withMigrator(storeToWrite(invocation), async ({ migrator, database: { schema } }) => {
      const applied = await migrator.up()
      const lines = applied.map((name) => `applied ${name}`)
      show(
        invocation,
        { schema, applied },
        lines.length > 0 ? lines : [`The schema "${onOneLine(schema)}" is up to date.`],
      )
    })
  },
}

/** Undoes the newest changes, with their data. */
export const migrateDown: CliCommand = {
  summary: 'undo the newest changes of the schema, with the data in them',
  usage: 'migrate down [COUNT | all] --yes [--database URL | --data-dir DIR] [--schema NAME] [--json]',
  details: `  --yes            yes, destroy that data; there is no way back but a backup\n${STORE_FLAGS_HELP}`,
  options: { ...STORE_FLAGS, yes: { type: 'boolean' } },
  run: async (invocation) => {
    noMoreThan(1, invocation)
    const count = countOf(invocation.positionals[0] ?? '1')
    if (invocation.values.yes !== true) {
      throw new UsageError('Undoing a change destroys the data in it. Make a backup, then add --yes.')
    }
    await withMigrator(storeToRead(invocation), async ({ migrator, database: { schema } }) => {
      const undone = await migrator.down(count)
      const lines = undone.map((name) => `undone ${name}`)
      show(
        invocation,
        { schema, undone },
        lines.length > 0 ? lines : [`The schema "${onOneLine(schema)}" has nothing to undo.`],
      )
    })
  },
}

/** Where every change stands. */
export const migrateStatus: CliCommand = {
  summary: 'show which changes the schema has and lacks',
  usage: 'migrate status [--database URL | --data-dir DIR] [--schema NAME] [--json]',
  details: `Changes nothing. "unknown" is a change that a newer version of Batonpass made.\n\n${STORE_FLAGS_HELP}`,
  options: STORE_FLAGS,
  run: async (invocation) => {
    noMoreThan(0, invocation)
    await withMigrator(storeToRead(invocation), async ({ migrator, database: { schema } }) => {
      const migrations = await migrator.status()
      show(invocation, { schema, migrations }, table(migrations))
    })
  },
}

/** The whole schema as a script; asks no database. */
export const migrateSql: CliCommand = {
  summary: 'print the whole schema as SQL, to be run by hand',
  usage: 'migrate sql [--schema NAME] [--json]',
  details: `For an empty database; needs none to print it.\n\n${STORE_FLAGS_HELP}`,
  options: STORE_FLAGS,
  run: async (invocation) => {
    noMoreThan(0, invocation)
    await withMigrator(storeOptions(invocation), async ({ migrator, database: { schema } }) => {
      const sql = await migrator.sql()
      show(invocation, { schema, sql }, [sql])
    })
  },
}

type MigratorWork = (opened: OpenMigrator) => Promise<void>

const withMigrator = async (options: StoreOptions, work: MigratorWork): Promise<void> => {
  await using opened = openMigrator(options)
  await work(opened)
}

const show = ({ values, out }: Invocation, result: object, lines: readonly string[]): void => {
  for (const line of values.json === true ? [toJson(result)] : lines) out.line(line)
}

const table = (migrations: readonly MigrationStatus[]): readonly string[] => {
  // A newer program may have written any name into the list.
  const shown = migrations.map((one) => ({ ...one, name: onOneLine(one.name) }))
  const width = Math.max(...shown.map(({ name }) => name.length))
  return shown.map(({ name, state, appliedAt = '' }) =>
    `${name.padEnd(width)}  ${state.padEnd('applied'.length)}  ${appliedAt}`.trimEnd(),
  )
}

const countOf = (word: string): number => {
  if (word === 'all') return Number.POSITIVE_INFINITY
  const count = /^\d+$/.test(word) ? Number(word) : 0
  if (count < 1) throw new UsageError(`Say how many changes to undo, from 1, or "all"; not "${word}".`)
  return count
}

const noMoreThan = (most: number, { positionals }: Invocation): void => {
  const extra = positionals[most]
  if (extra !== undefined) throw new UsageError(`"${extra}" is one word too many.`)
}
