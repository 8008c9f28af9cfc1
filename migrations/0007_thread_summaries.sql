-- Thread summaries: one row per accepted summary, mirrored beside the handoff that it was accepted with. Only ever added.
create table batonpass.thread_summaries (
  conversation_id        uuid        not null,
  handoff_id             uuid        not null,
  target_conversation_id uuid        not null,
  agent_name             batonpass.trimmed not null,
  summary                batonpass.non_blank not null,
  plain_text             text        not null,
  tokens                 integer     not null,
  model_used             batonpass.non_blank not null,
  refinements            integer     not null,
  is_edited              boolean     not null,
  accepted_at            timestamptz not null,
  constraint thread_summaries_pkey primary key (conversation_id, handoff_id),
  constraint thread_summaries_handoff_exists foreign key (conversation_id, handoff_id)
    references batonpass.handoffs (conversation_id, id),
  constraint thread_summaries_into_another check (target_conversation_id <> conversation_id),
  constraint thread_summaries_counted check (tokens >= 0 and refinements >= 0)
);
comment on table batonpass.thread_summaries is
  'Summaries that were accepted when threads were opened: a mirror for questions, and no part of a decision.';
comment on column batonpass.thread_summaries.conversation_id is 'The source: the conversation that the summary is of.';
comment on column batonpass.thread_summaries.agent_name is 'Whose thread was summarised.';
comment on column batonpass.thread_summaries.summary is 'Markdown. A text that can be erased.';
comment on column batonpass.thread_summaries.plain_text is 'The same without markup. A text that can be erased.';
comment on column batonpass.thread_summaries.model_used is 'The model that wrote it; extractive, or person.';
comment on index batonpass.thread_summaries_pkey is 'Was the summary of this handoff kept?';

create index thread_summaries_by_age on batonpass.thread_summaries (accepted_at, handoff_id);
comment on index batonpass.thread_summaries_by_age is 'Which summaries were accepted last?';

create index thread_summaries_by_agent on batonpass.thread_summaries (agent_name, accepted_at, handoff_id);
comment on index batonpass.thread_summaries_by_agent is 'Which summaries of this agent''s threads were accepted last?';

create index thread_summaries_by_source on batonpass.thread_summaries (conversation_id, accepted_at, handoff_id);
comment on index batonpass.thread_summaries_by_source is 'Which summaries of this conversation were accepted last?';

create trigger thread_summaries_stay before update on batonpass.thread_summaries
  for each row execute function batonpass.keep_record('{}', '{summary,plain_text}');
create trigger thread_summaries_never_deleted before delete on batonpass.thread_summaries
  for each row execute function batonpass.refuse_change();
create trigger thread_summaries_never_emptied before truncate on batonpass.thread_summaries
  for each statement execute function batonpass.refuse_change();

-- The document of the handoff is the same text: whoever erases it there has erased it here.
create function batonpass.erase_thread_summary() returns trigger language plpgsql as $$
begin
  update batonpass.thread_summaries set summary = '[erased]', plain_text = '[erased]'
  where conversation_id = new.conversation_id and handoff_id = new.id;
  return null;
end
$$;
comment on function batonpass.erase_thread_summary is 'Erases the mirror of a summary with the document of its handoff.';
create trigger handoffs_erase_summary after update on batonpass.handoffs
  for each row when (new.document = '[erased]' and old.document is distinct from new.document)
  execute function batonpass.erase_thread_summary();
