update batonpass.conversations set asked = asked - 'first' where asked ? 'first';
create or replace function batonpass.is_asked(asked jsonb) returns boolean language sql immutable parallel safe as $$
  select asked - '{mark,prompt,sequence,restarts,takeovers}'::text[] = '{}'
    and jsonb_typeof(asked -> 'mark') = 'number' and jsonb_typeof(asked -> 'prompt') = 'string'
    and jsonb_typeof(asked -> 'sequence') = 'number' and jsonb_typeof(asked -> 'restarts') = 'number'
    and jsonb_typeof(asked -> 'takeovers') = 'number'
$$;
