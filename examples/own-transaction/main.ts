import pg from 'pg'
import type { HandoffService } from '../../src/entry/container.ts'
import { createBatonpass, unwrap, type WorkingSession } from '../../src/entry/index.ts'
import { openPostgres } from '../../src/entry/postgres.ts'

// A server that is migrated (`baton migrate up`), and in which this program may create a table of its own.
const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL })
await pool.query('create table if not exists tickets (id text primary key, state text not null)')

/** Hands the ticket's conversation on, and says so in the ticket: both or neither. */
const escalate = async (handoffs: HandoffService, working: WorkingSession, ticket: string): Promise<void> => {
  const client = await pool.connect()
  try {
    await client.query('begin')
    const inside = handoffs.with(client)
    const handed = await inside.initiateHandoff({ ...working, targetAgent: 'reviewer', reason: 'Needs a second look' })
    if (!handed.ok && handed.error.code === 'transaction.conflict') {
      // Somebody else has changed the session in the same moment. Nothing is stored; another time, then.
      await client.query('rollback')
      return
    }
    const { handoff } = unwrap(handed)
    await client.query('insert into tickets values ($1, $2)', [ticket, `escalated by ${handoff.sourceAgent}`])
    await client.query('commit')
    await inside.committed()
  } catch (error) {
    await client.query('rollback')
    throw error
  } finally {
    client.release()
  }
}

await using store = await openPostgres({ pool })
await using batonpass = await createBatonpass({ store })
const { handoffs, history } = batonpass
const { conversation } = unwrap(await handoffs.openConversation({ originalTask: 'Answer the ticket' }))
const agent = { conversationId: conversation.id, agentName: 'first-line', backend: 'scripted' }
const started = unwrap(await handoffs.startSession(agent))
const messages = [{ role: 'assistant' as const, text: 'I do not know this error.' }]
const working = { ...started, ...unwrap(await handoffs.recordTurn({ ...started, messages })) }

const ticket = `T-${conversation.id}`
await escalate(handoffs, working, ticket)
const [waiting] = (await history.handoffs(conversation.id)).items
if (waiting === undefined) throw new Error('The ticket was not escalated')
console.log(`${waiting.sourceAgent} -> ${waiting.targetAgent}: ${waiting.status}`)

// The ticket is there already, so its insert fails, and no second handoff stays either.
unwrap(await handoffs.cancelHandoff({ handoff: waiting, reason: 'Not now' }))
await escalate(handoffs, working, ticket).catch((error: Error) => console.log(error.message))
console.log(`handoffs: ${(await history.handoffs(conversation.id)).items.length}`)
await pool.end()
