import { writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { openPglite } from '../src/adapters/postgres/embedded/open-pglite.ts'
import { schemaLines } from '../src/adapters/postgres/health/schema-drift.ts'
import type { Database } from '../src/adapters/postgres/statements/database.ts'

/** Where the schema stands written, for reviewers: a change of it shows as a diff. */
export const SNAPSHOT = 'migrations/schema.snapshot'

const HEADER = [
  '# The schema as all migrations leave it, the same on every supported engine.',
  '# Written by `npm run schema`; a test fails when it is stale.',
]

/** A schema as text: two are the same when their texts are, whatever they are called. */
export const schemaSnapshot = async (database: Database): Promise<string> =>
  `${[...HEADER, '', ...(await schemaLines(database))].join('\n')}\n`

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  await using store = await openPglite()
  writeFileSync(SNAPSHOT, await schemaSnapshot(store.database))
}
