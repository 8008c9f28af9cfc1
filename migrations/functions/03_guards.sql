-- Compare-and-set: a decision is kept only if everything that it stood on is still so. Each guard is written once.

create or replace function batonpass.session_stands_v1(session batonpass.agent_sessions, expected jsonb) returns boolean
language sql stable as $$
  select session.version = (expected ->> 'version')::bigint
    -- A token is digested here: the digest can be read by others, and is no proof.
    and session.holder = coalesce(batonpass.token_digest(expected ->> 'token'), expected ->> 'holder', session.holder)
    and session.state = expected ->> 'state'
    and session.held_by is not distinct from (expected ->> 'held_by')::uuid
    and session.turns = (expected ->> 'turns')::integer
    and session.next_sequence = (expected ->> 'next_sequence')::bigint
$$;
comment on function batonpass.session_stands_v1 is 'Whether a session is what a decision took it for.';

create or replace function batonpass.handoff_stands_v1(handoff batonpass.handoffs, expected jsonb) returns boolean
language sql stable as $$
  select handoff.version = (expected ->> 'version')::bigint
    and handoff.status = expected ->> 'status'
    and handoff.claimant is not distinct from expected ->> 'claimant'
    and handoff.claim_deadline is not distinct from (expected ->> 'claim_deadline')::timestamptz
$$;
comment on function batonpass.handoff_stands_v1 is 'Whether a handoff is what a decision took it for.';

-- Ends a unit whose guard failed after something of it was written: raising undoes that. The message says where.
create or replace function batonpass.refuse_unit_v1(place text) returns void language plpgsql as $$
begin
  raise exception using errcode = 'BP001', message = place;
end
$$;
comment on function batonpass.refuse_unit_v1 is 'Undoes a unit because something that it stood on has moved; says where.';

-- Why a guard failed: the same command came first, or another one did.
create or replace function batonpass.overtaken_v1(command uuid, place text) returns jsonb language sql stable as $$
  select coalesce(
    (select jsonb_build_object('outcome', 'repeated', 'digest', digest, 'receipt', receipt)
     from batonpass.commands where id = command),
    jsonb_build_object('outcome', 'conflict', 'at', place))
$$;
comment on function batonpass.overtaken_v1 is 'Whether a decision was overtaken by itself or by another.';

-- While nothing is written yet, a conflict is an answer and leaves no error in the log of the server.
create or replace function batonpass.conflict_v1(command uuid, place text) returns jsonb language plpgsql as $$
begin
  if pg_current_xact_id_if_assigned() is not null then perform batonpass.refuse_unit_v1(place); end if;
  return batonpass.overtaken_v1(command, place);
end
$$;
comment on function batonpass.conflict_v1 is 'Answers that a guard failed, or undoes what the unit has written.';
