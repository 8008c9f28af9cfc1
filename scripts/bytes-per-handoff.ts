import { onPostgres } from '../bench/engines.ts'

/** So many conversations, each handed on so often, with one turn before each handoff. */
const [CONVERSATIONS, HANDOFFS] = [20, 50]

/**
 * Prints what a turn and a handoff take on the disk of a server, with indexes, in the long run:
 * `npm run with-postgres -- node --import tsx scripts/bytes-per-handoff.ts`.
 */
const main = async (server: string): Promise<void> => {
  const engine = await onPostgres(server)
  try {
    const seats = await Promise.all(Array.from({ length: CONVERSATIONS }, () => engine.ours.open(10)))
    const size = async (): Promise<number> => {
      const [row] = await engine.ask(
        `select sum(pg_total_relation_size(c.oid))::float8 as bytes from pg_class c
         join pg_namespace n on n.oid = c.relnamespace where n.nspname = 'batonpass' and c.relkind = 'r'`,
      )
      return Number(row?.bytes)
    }
    let [turns, handoffs] = [0, 0]
    for (let count = 0; count < HANDOFFS; count += 1) {
      const before = await size()
      for (const seat of seats) await seat.recordTurn()
      const between = await size()
      for (const seat of seats) {
        await seat.initiate()
        await seat.acceptAndComplete()
      }
      turns += between - before
      handoffs += (await size()) - between
    }
    const each = (bytes: number): string => `${Math.round(bytes / (CONVERSATIONS * HANDOFFS) / 100) / 10} KB`
    console.log(`a turn (2 messages with 1 KB of text, 5 tool calls): ${each(turns)}`)
    console.log(`a handoff (initiated, claimed, completed): ${each(handoffs)}`)
  } finally {
    await engine.close()
  }
}

await main(process.env.TEST_DATABASE_URL ?? '')
