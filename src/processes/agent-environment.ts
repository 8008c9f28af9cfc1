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

type Environment = Readonly<Record<string, string | undefined>>

/** The variable in which an agent finds the token of its tools: arguments can be read by every user of a machine. */
export const TOOLS_TOKEN = 'BATONPASS_TOOLS_TOKEN'

/** The same variables, with the token of the tools, and no proxy between the agent and this machine. */
export const withToolsToken = (environment: Environment, token: string | undefined): Environment =>
  token === undefined ? environment : { ...environment, ...reachingUs(environment), [TOOLS_TOKEN]: token }

const PROXIES = ['HTTP_PROXY', 'http_proxy', 'ALL_PROXY', 'all_proxy']
const US = '127.0.0.1'

const reachingUs = (environment: Environment): Environment => {
  if (PROXIES.every((name) => (environment[name] ?? '') === '')) return {}
  const { NO_PROXY = '', no_proxy = NO_PROXY } = environment
  const passing = (hosts: string): string =>
    hosts.split(',').some((host) => ['*', US].includes(host.trim())) ? hosts : [hosts, US].filter(Boolean).join(',')
  return { NO_PROXY: passing(NO_PROXY || no_proxy), no_proxy: passing(no_proxy) }
}
