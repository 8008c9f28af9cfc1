import { counted } from '../../../domain/kernel/counted.ts'
import { onOneLine } from '../../../domain/kernel/safe-text.ts'
import { durationFlag, parsedFlag, textFlag } from '../choose/flag-values.ts'
import { openFor, type StoreParts } from '../choose/opened-store.ts'
import type { StoreUse } from '../choose/store-options.ts'
import { CommandNotCompleted, UsageError } from '../invocation/command-problems.ts'
import { EXIT } from '../invocation/exit-codes.ts'
import type { Invocation, Run } from '../invocation/invocation.ts'
import { toJson } from '../render/text.ts'

type MigrationStatus = Awaited<ReturnType<StoreParts['schema']['migrator']['status']>>[number]

/** Applies what is pending. */
export const migrateUp: Run = async (invocation) => {
  await withMigrator(invocation, 'write', async ({ migrator, database: { schema } }) => {
    const applied = await migrator.up()
    const lines = applied.map((name) => `applied ${name}`)
    show(
      invocation,
      { schema, applied },
      lines.length > 0 ? lines : [`The schema "${onOneLine(schema)}" is up to date.`],
    )
  })
}

/** Undoes the newest changes, with their data. */
export const migrateDown: Run = async (invocation) => {
  const count = countOf(invocation.positionals[0] ?? '1')
  if (invocation.values.yes !== true) {
    throw new UsageError('Undoing a change destroys the data in it. Make a backup, then add --yes.')
  }
  await withMigrator(invocation, 'read', async ({ migrator, database: { schema } }) => {
    const undone = await migrator.down(count)
    const lines = undone.map((name) => `undone ${name}`)
    show(
      invocation,
      { schema, undone },
      lines.length > 0 ? lines : [`The schema "${onOneLine(schema)}" has nothing to undo.`],
    )
  })
}

/** Where every change stands. */
export const migrateStatus: Run = async (invocation) => {
  await withMigrator(invocation, 'read', async ({ migrator, database: { schema } }) => {
    const migrations = await migrator.status()
    show(invocation, { schema, migrations }, table(migrations))
    const pending = migrations.filter(({ state }) => state === 'pending').length
    if (pending > 0)
      throw new CommandNotCompleted(
        `The schema "${onOneLine(schema)}" lacks ${counted(pending, 'change')}. Run "baton migrate up".`,
        EXIT.pending,
      )
    // Nothing in it is known: it is of before the first release, and is called what it is.
    if (migrations.every(({ state }) => state === 'unknown')) await migrator.check()
  })
}

/** The whole schema as a script, or the changes after a version; asks no database. */
export const migrateSql: Run = async (invocation) => {
  const from = textFlag(invocation, 'from')
  await withMigrator(invocation, 'know', async ({ migrator, database: { schema } }) => {
    const sql = await migrator.sql(from).catch((problem: unknown) => {
      throw problem instanceof RangeError ? new UsageError(`--from: ${problem.message}`, { cause: problem }) : problem
    })
    show(invocation, { schema, sql }, [sql])
  })
}

const withMigrator = async (
  invocation: Invocation,
  to: StoreUse['to'],
  work: (opened: StoreParts['schema']) => Promise<void>,
): Promise<void> => {
  const lockWaitMs = parsedFlag(invocation, 'lock-wait', durationFlag)
  await using opened = await openFor(invocation, { part: 'schema', to, lockWaitMs })
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
