-- A conversation that was opened before anybody had asked for something keeps the first line of the first prompt, beside the
-- latest one: its title.
create or replace function batonpass.is_asked(asked jsonb) returns boolean language sql immutable parallel safe as $$
  select asked - '{mark,prompt,sequence,restarts,takeovers,first}'::text[] = '{}'
    and jsonb_typeof(asked -> 'mark') = 'number' and jsonb_typeof(asked -> 'prompt') = 'string'
    and jsonb_typeof(asked -> 'sequence') = 'number' and jsonb_typeof(asked -> 'restarts') = 'number'
    and jsonb_typeof(asked -> 'takeovers') = 'number'
    and (not asked ? 'first' or (
      jsonb_typeof(asked -> 'first' -> 'prompt') = 'string' and (asked -> 'first') - 'prompt' = '{}'))
$$;
