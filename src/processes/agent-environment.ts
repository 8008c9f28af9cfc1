/** Variables that lead to the store, or into it. */
const STORE_VARIABLES: readonly string[] = [
  'DATABASE_URL',
  'DATABASE_URL_FILE',
  'PGPASSWORD',
  'PGPASSFILE',
  'PGSERVICEFILE',
  'PGSSLKEY',
]

/** The same variables without those of the store: an agent that we start has no business in it. */
export const withoutStore = (
  environment: Readonly<Record<string, string | undefined>>,
): Readonly<Record<string, string | undefined>> =>
  Object.fromEntries(Object.entries(environment).filter(([name]) => !STORE_VARIABLES.includes(name)))
