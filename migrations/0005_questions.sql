-- Questions about the past, across conversations. Each list goes by a time and an id, so that the four-hundredth page
-- costs what the first did; each filter has an index that leads to its rows in that order.

-- Words are split here rather than by to_tsvector, whose parser and lower case depend on the database's locale: the
-- same question must have the same answer everywhere. ASCII letters lose their case, all others keep it. The first
-- alternative stands for characters that text cannot hold. A word is cut at 64 characters, so that it fits an index.
create function batonpass.search_words(content text) returns text[] language sql immutable strict parallel safe
cost 800 as $$ -- as slow as it is, so that no plan reads many texts where an index leads to few
  select coalesce(array_agg(distinct left(word, 64)), '{}')
  from regexp_split_to_table(
    lower(content collate "C"),
    '(?:\uf8ff(?:\uf8ff|0|d[89a-f][0-9a-f]{2})|[\u0001-/:-@\[-\u0060{-\u00bf\u00d7\u00f7\u2000-\u206f\u2190-\u2bff\u3000-\u3004\u3008-\u3030\ufeff\uff01-\uff0f\uff1a-\uff20\uff3b-\uff40\uff5b-\uff65])+'
  ) as word
  where word <> ''
$$;
comment on function batonpass.search_words is 'The words of a text as a search sees them, each once.';

create index handoffs_by_age on batonpass.handoffs (initiated_at, id);
comment on index batonpass.handoffs_by_age is 'What handoffs were there between these times, from either end?';

-- A moment has a handful of handoffs, which are sorted by id where they are read.
create index handoffs_by_source_agent on batonpass.handoffs (source_agent, initiated_at);
comment on index batonpass.handoffs_by_source_agent is 'What did this agent hand over, from either end?';

create index handoffs_by_target_agent on batonpass.handoffs (target_agent, initiated_at);
comment on index batonpass.handoffs_by_target_agent is 'What was handed to this agent, from either end?';

create index handoffs_by_kind on batonpass.handoffs (kind, initiated_at);
comment on index batonpass.handoffs_by_kind is 'Which handoffs were transfers, restarts or threads, from either end?';

-- Nearly all handoffs are completed in the end: those are found along the ages.
create index handoffs_by_status on batonpass.handoffs (status, initiated_at) where status <> 'completed';
comment on index batonpass.handoffs_by_status is
  'Which handoffs of any conversation are open, which of those overdue, and which were cancelled or failed?';

-- New words wait in a list until there are many of them: cheap to write. A search reads that list as well, so it is short.
create index handoffs_by_reason on batonpass.handoffs using gin (batonpass.search_words(reason))
  with (gin_pending_list_limit = 256);
comment on index batonpass.handoffs_by_reason is 'Which handoffs have all these words in their reason?';

create index agent_sessions_by_age on batonpass.agent_sessions (started_at, id);
comment on index batonpass.agent_sessions_by_age is 'What sessions are there in any conversation, from either end?';

create index agent_sessions_by_agent on batonpass.agent_sessions (agent_name, started_at, id);
comment on index batonpass.agent_sessions_by_agent is 'What did this agent work on, from either end?';

create index agent_sessions_by_state on batonpass.agent_sessions (state, started_at, id);
comment on index batonpass.agent_sessions_by_state is 'Which sessions are active, paused or ended in this way, from either end?';

create index conversations_by_subject on batonpass.conversations (subject, opened_at, id) where subject is not null;
comment on index batonpass.conversations_by_subject is 'Which conversations hold this one''s data, from either end?';

create index conversations_roots on batonpass.conversations (opened_at, id) where parent_id is null;
comment on index batonpass.conversations_roots is 'Which conversations are no thread of another, from either end?';
