/**
 * Variables that lead to the store, or into it. A `DATABASE_URL` is the project's own, and the agent's work may need it. Of a
 * password for Postgres nobody can tell whose it is, so it is kept back as well.
 */
const STORE_VARIABLES: readonly string[] = [
  'BATONPASS_DATABASE_URL',
  'BATONPASS_DATABASE_URL_FILE',
  'BATONPASS_DATA_DIR',
  'PGPASSWORD',
  'PGPASSFILE',
  'PGSERVICEFILE',
  'PGSSLKEY',
]

/** Says that a run works the agent, and records it: hooks of the person who started it keep quiet (`baton hook`). */
const RUN_VARIABLE = 'BATONPASS_RUN'

/** The same variables without those of the store, which an agent that we start has no business in, and with the mark of a run. */
export const agentEnvironment = (
  environment: Readonly<Record<string, string | undefined>>,
): Readonly<Record<string, string | undefined>> => ({
  ...Object.fromEntries(Object.entries(environment).filter(([name]) => !STORE_VARIABLES.includes(name))),
  [RUN_VARIABLE]: '1',
})
