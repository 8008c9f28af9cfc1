import type { Flags } from './invocation.ts'

/** The heading of the flags that choose a store. */
const group = 'Store:'

/** The flag that every command with a result for machines takes. */
export const JSON_FLAG = { json: { help: 'print JSON, for machines' } } as const satisfies Flags

/** The flags that choose a store; every command that needs one takes them. */
export const STORE_FLAGS = {
  ...JSON_FLAG,
  database: { value: 'URL', help: 'a Postgres server (else BATONPASS_DATABASE_URL)', group },
  'database-file': {
    value: 'FILE',
    help: 'a file with that URL, which others cannot read (else BATONPASS_DATABASE_URL_FILE): unlike the URL, it is seen neither in the environment nor in a list of processes',
    group,
  },
  'data-dir': {
    value: 'DIR',
    help: 'the folder of an embedded store (else BATONPASS_DATA_DIR, else the project store of this folder or one above, else ~/.batonpass)',
    group,
  },
  pooled: { help: 'the server is reached through a transaction pooler such as PgBouncer', group },
  schema: { value: 'NAME', help: 'the schema in the database (batonpass)', group },
} as const satisfies Flags

/** The flag that names a conversation by the key its orchestrator gave it. */
export const KEY_FLAG = {
  key: { value: 'KEY', help: 'the conversation by the orchestrator’s own key' },
} as const satisfies Flags

/** The flags that choose a store, for commands that belong to the service and the hooks: a folder may be named beside a server. */
export const SERVICE_FLAGS = {
  ...STORE_FLAGS,
  'data-dir': {
    value: 'DIR',
    help: 'the folder of the service, and of the embedded store unless a server is named (else as the store is chosen)',
    group,
  },
} as const satisfies Flags

/** The flags that say where the service is, and how to start it. There is none for the address of a server: it would be seen in a list of processes. */
export const PLACE_FLAGS = {
  'data-dir': {
    value: 'DIR',
    help: 'the folder of the service, and of the embedded store unless a server is named (else as the store is chosen)',
  },
  'database-file': {
    value: 'FILE',
    help: 'a file with the address of a Postgres server, for a service that this starts',
  },
  schema: { value: 'NAME', help: 'the schema in that database' },
} as const satisfies Flags
