import { createInterface } from 'node:readline'
import { openMigratorAt } from '../../src/adapters/postgres/open-migrator.ts'

/** One process of many: says that it is there; given a database it says when it is ready, waits for the word, and says what it applied. */
process.stdout.write('here\n')
const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]()
for (let line = await lines.next(); line.done !== true; line = await lines.next()) {
  await using opened = openMigratorAt({ connectionString: line.value })
  await opened.migrator.status()
  process.stdout.write('ready\n')
  await lines.next()
  process.stdout.write(`${JSON.stringify(await opened.migrator.up())}\n`)
}
