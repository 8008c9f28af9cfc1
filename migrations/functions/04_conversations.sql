-- Conversations. Functions of a unit take a list of rows; without a list they are not run (strict).

create or replace function batonpass.add_conversations_v1(added jsonb) returns void language plpgsql strict as $$
begin
  insert into batonpass.conversations (
    id, external_key, subject, original_task, parent_id, working_directory, worktree_path, branch, base_branch,
    restart_budget, asked, opened_at, closed_at, metadata)
  select
    id, external_key, subject, original_task, parent_id, working_directory, worktree_path, branch, base_branch,
    restart_budget, asked, opened_at, closed_at, metadata
  from jsonb_populate_recordset(null::batonpass.conversations, added);
  insert into batonpass.audit_heads (conversation_id, position, hash)
  select id, 0, sha256(uuid_send(id)) from jsonb_populate_recordset(null::batonpass.conversations, added);
end
$$;
comment on function batonpass.add_conversations_v1 is 'Adds conversations, and begins their streams.';

-- Whoever closes the conversation waits for this lock, and whoever it waits for finds it closed.
create or replace function batonpass.expect_open_v1(expected jsonb) returns void language plpgsql strict as $$
declare
  item jsonb;
begin
  for item in select jsonb_array_elements(expected) loop
    perform from batonpass.conversations where id = (item ->> 'id')::uuid and closed_at is null for share;
    if not found then perform batonpass.refuse_unit_v1(format('conversation %s was closed', item ->> 'id')); end if;
  end loop;
end
$$;
comment on function batonpass.expect_open_v1 is 'Holds conversations open until the unit is kept.';

create or replace function batonpass.close_conversations_v1(closed jsonb) returns void language plpgsql strict as $$
declare
  item jsonb;
begin
  for item in select jsonb_array_elements(closed) loop
    update batonpass.conversations set closed_at = (item ->> 'closed_at')::timestamptz
    where id = (item ->> 'id')::uuid and (closed_at is null) = (item ? 'closed_at');
    if not found then
      perform batonpass.refuse_unit_v1(format('conversation %s is not what was expected', item ->> 'id'));
    end if;
    -- Looked for after the row is locked: whoever starts a session now finds the conversation closed.
    perform from batonpass.agent_sessions
    where item ? 'closed_at' and conversation_id = (item ->> 'id')::uuid and (state = 'active' or held_by is not null);
    if found then perform batonpass.refuse_unit_v1(format('a session of conversation %s has the baton', item ->> 'id')); end if;
  end loop;
end
$$;
comment on function batonpass.close_conversations_v1 is 'Closes and reopens conversations.';

create or replace function batonpass.set_budgets_v1(budgets jsonb) returns void language plpgsql strict as $$
declare
  item jsonb;
begin
  for item in select jsonb_array_elements(budgets) loop
    update batonpass.conversations set
      restart_budget = coalesce(item -> 'restart_budget', restart_budget), asked = coalesce(item -> 'asked', asked)
    where id = (item ->> 'id')::uuid;
    if not found then perform batonpass.refuse_unit_v1(format('there is no conversation %s', item ->> 'id')); end if;
  end loop;
end
$$;
comment on function batonpass.set_budgets_v1 is 'Keeps budgets, and prompts that came later.';

create or replace function batonpass.set_metadata_v1(notes jsonb) returns void language plpgsql strict as $$
declare
  item jsonb;
begin
  for item in select jsonb_array_elements(notes) loop
    case item ->> 'of'
      when 'conversation' then
        update batonpass.conversations set metadata = item -> 'metadata' where id = (item ->> 'id')::uuid;
      when 'session' then
        update batonpass.agent_sessions set metadata = item -> 'metadata'
        where conversation_id = (item ->> 'conversation_id')::uuid and id = (item ->> 'id')::uuid;
      when 'handoff' then
        update batonpass.handoffs set metadata = item -> 'metadata'
        where conversation_id = (item ->> 'conversation_id')::uuid and id = (item ->> 'id')::uuid;
    end case;
    if not found then perform batonpass.refuse_unit_v1(format('there is no %s %s', item ->> 'of', item ->> 'id')); end if;
  end loop;
end
$$;
comment on function batonpass.set_metadata_v1 is 'Keeps the notes of callers.';
