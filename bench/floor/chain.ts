/** Parameters that every write has: the command row and the audit entries. */
export const COMMAND = { conversation: 'uuid', command: 'uuid', digest: 'text', kept_at: 'timestamptz' } as const

/** The hash of an entry, written out: `audit_hash` is a function, and calling it costs. */
const hashOver = (body: string): string =>
  `sha256(int4send(length(hash)) || hash || int4send(16) || uuid_send(:conversation) || int4send(8) ||
    int8send(place + 1) || int4send(16) || uuid_send(:command) || int4send(32) || sha256(convert_to(${body}, 'UTF8')))`

/**
 * The parts of a statement that write the command row and append entries to the chain: the head row is locked, each
 * entry hashed over its predecessor, the head moved. `guard` is the part that found the expected version, or nothing.
 */
export const chain = (schema: string, guard: string, bodies: readonly string[], salted?: number): string => {
  const links = bodies.map((body, index) => {
    const hash = hashOver(body)
    return `link${index + 1} as materialized (
      select place + 1 as place, ${body} as body, hash as previous, ${hash} as hash from link${index})`
  })
  const entries = bodies.map((_, index) => `select * from link${index + 1}`).join(' union all ')
  const salt = `, salted as (
    insert into ${schema}.audit_salts select :conversation, place, :salt from link${salted})`
  return `
  command as (
    insert into ${schema}.commands (id, conversation_id, digest, kept_at)
    select :command, :conversation, :digest, :kept_at from ${guard}),
  link0 as materialized (
    select h.position as place, h.hash from ${schema}.audit_heads h, ${guard}
    where h.conversation_id = :conversation for update of h),
  ${links.join(',\n  ')},
  entries as (
    insert into ${schema}.audit_entries (conversation_id, position, command_id, body, previous_hash, hash)
    select :conversation, place, :command, body, previous, hash from (${entries}) e)${salted === undefined ? '' : salt},
  head as (
    update ${schema}.audit_heads h set position = l.place, hash = l.hash, transaction_id = pg_current_xact_id()
    from link${bodies.length} l where h.conversation_id = :conversation)`
}
