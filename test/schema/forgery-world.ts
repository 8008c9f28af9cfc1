import { CompiledQuery } from 'kysely'
import type { SqlStore } from '../../src/adapters/postgres/open/sql-store.ts'
import { commandId } from '../../src/domain/kernel/ids.ts'
import { unwrap } from '../../src/domain/unwrap.ts'
import { Scene } from '../../src/testing/scene.ts'

/** Lawful rows of every table, each found by a condition on its table. */
export interface World {
  /** The row that is copied or changed while its subject is at work. */
  readonly atWork: Readonly<Record<string, string>>
  /** The row of a subject that has ended. */
  readonly ended: Readonly<Record<string, string>>
  /** A conversation that nothing of the others belongs to, with a row in every table. */
  readonly elsewhere: string
  /** A session that is held by an open handoff, and has no lease. */
  readonly unleased: {
    readonly conversation: string
    readonly session: string
    readonly handoff: string
    /** The token of its holder: with it, units get as far as the rules for rows. */
    readonly token: string
  }
  /** The handoff of a thread that no summary is kept of. */
  readonly unsummarised: string
  /** A handoff that was completed, its source and its target. */
  readonly past: {
    readonly conversation: string
    readonly source: string
    readonly target: string
    readonly handoff: string
  }
}

/** Everything lawful that can happen, done by the library itself. */
export const lawfulWorld = async (store: SqlStore): Promise<World> => {
  const scene = new Scene({ store, passTime: async () => {} })
  const { service } = scene
  const elsewhere = (await passed(scene)).target.session.conversationId
  const named = { commandId: commandId(scene.ids.next()) }
  const open = await scene.initiated({
    document: 'What I know',
    traceContext: { traceparent: '00-1-2-03' },
    ...named,
  })
  const cancelled = await scene.initiated({ document: 'What I know' })
  unwrap(await service.acceptHandoff({ handoff: cancelled.handoff, claimant: 'worker' }))
  unwrap(await service.cancelHandoff({ handoff: cancelled.handoff, by: 'worker', reason: 'Nobody came' }))
  const { target, handoff, source: left } = await passed(scene)
  const { id: worker, conversationId: past } = target.session
  const failed = await scene.worked('edit_file')
  unwrap(await service.failSession({ ...failed, reason: 'It broke' }))
  const thread = await scene.worked('search_code')
  const into = { targetAgent: scene.name('opus'), reason: 'A side track' }
  const summarised = unwrap(await service.openThread({ ...thread, ...into }))
  const unsummarised = unwrap(await service.openThread({ ...thread, ...into }))
  await store.threadSummaries.keep({
    handoffId: summarised.handoff.id,
    sourceThreadId: thread.session.conversationId,
    targetThreadId: summarised.conversation.id,
    agentName: thread.session.agentName,
    ...{ summary: 'What matters', plainText: 'What matters', tokens: 3, modelUsed: 'extractive' },
    ...{ refinements: 0, isEdited: false, timestamp: summarised.handoff.initiatedAt },
  })
  const { id: source, conversationId } = open.source.session
  const inOpen = `original.conversation_id = '${conversationId}'`
  const inPast = `original.conversation_id = '${past}'`
  return {
    elsewhere,
    unsummarised: unsummarised.handoff.id,
    unleased: { conversation: conversationId, session: source, handoff: open.handoff.id, token: open.source.holder },
    past: { conversation: past, source: left, target: worker, handoff },
    atWork: {
      conversations: `original.id = '${conversationId}'`,
      agent_sessions: `original.id = '${worker}'`,
      turns: `original.id = '${open.handoff.priorTurnId}'`,
      messages: `${inOpen} and original.sequence_number = 2`,
      tool_calls: `${inOpen} and original.position = 1`,
      handoffs: `original.id = '${open.handoff.id}'`,
      handoff_tool_calls: `${inOpen} and original.ordinal = 1`,
      context_snapshots: `${inOpen} and original.type = 'handoff_initiated'`,
      look_backs: inPast,
      thread_summaries: `original.handoff_id = '${summarised.handoff.id}'`,
      commands: `original.id = '${named.commandId}'`,
      audit_heads: inOpen,
      audit_entries: `${inOpen} and original.position = 1`,
      audit_salts: `${inOpen} and original.position = 1`,
      context_monitors: `original.session_id = '${worker}'`,
      context_signals: inPast,
      session_leases: inPast,
    },
    ended: {
      agent_sessions: `original.id = '${failed.session.id}'`,
      handoffs: `original.id = '${cancelled.handoff.id}'`,
    },
  }
}

/** A conversation that was handed on, and whose target works under a lease. */
const passed = async (scene: Scene) => {
  const { handoff, source } = await scene.initiated()
  const begun = unwrap(await scene.service.completeHandoff({ handoff, leaseMs: 600_000 }))
  const target = unwrap(await scene.service.recordTurn({ ...begun, ...scene.turn('search') }))
  unwrap(await scene.context.send({ session: target.session.id, text: 'Look at the log' }))
  unwrap(await scene.service.recordLookBack({ session: target.session.id, by: 'words', text: 'flaky', found: 2 }))
  return { handoff: handoff.id, source: source.session.id, target }
}

/** Whose rights something is tried with. */
export type Who = 'superuser' | 'program'

/** Tries statements to the end of a transaction, deferred checks included, and undoes them; in one round trip. */
const TRY = `
create function public.try_forgery(who text, statements text[]) returns text language plpgsql as $$
declare
  statement text;
  touched   bigint;
  state     text;
  rule      text;
  place     text;
begin
  if who = 'program' then set local role batonpass_program; end if;
  foreach statement in array statements loop
    execute statement;
    get diagnostics touched = row_count;
    if touched = 0 and statement not like 'truncate%' then raise exception using errcode = 'ZZ000'; end if;
  end loop;
  set constraints all immediate;
  raise exception using errcode = 'ZZ001';
exception when others then
  get stacked diagnostics state = returned_sqlstate, rule = constraint_name, place = column_name;
  return case state
    when 'ZZ000' then 'nothing to change'
    when 'ZZ001' then 'accepted'
    when '23502' then 'refused by not null ' || place
    when '42501' then 'refused by rights'
    else 'refused by ' || coalesce(nullif(rule, ''), state) end;
end
$$`

/** Makes the role of a program, with the rights that docs/operating.md names. */
export const admitProgram = async ({ database }: SqlStore): Promise<void> => {
  for (const statement of [
    TRY,
    // Roles are those of all databases of a server: another test may have made this one.
    `do $$ begin create role batonpass_program; exception when duplicate_object or unique_violation then null; end $$`,
    'grant usage on schema batonpass to batonpass_program',
    'grant select on all tables in schema batonpass to batonpass_program',
    'grant execute on all functions in schema batonpass to batonpass_program',
  ])
    await database.kysely.executeQuery(CompiledQuery.raw(statement))
}

/** What the database answers. */
export const attemptAs = async ({ database }: SqlStore, who: Who, statements: readonly string[]): Promise<string> => {
  const list = statements.map((statement) => `$statement$${statement}$statement$`).join(', ')
  const query = CompiledQuery.raw(`select public.try_forgery($1, array[${list}]) as answer`, [who])
  const { rows } = await database.kysely.executeQuery<{ answer: string }>(query)
  return rows[0]?.answer ?? 'nothing'
}
