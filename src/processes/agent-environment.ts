/** Variables that lead to the store, or into it. */
const STORE_VARIABLES: readonly string[] = [
  'DATABASE_URL',
  'DATABASE_URL_FILE',
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
