/** One row of the import table. `npm:` names are packages. */
export interface Layer {
  readonly holds: string
  readonly mayImport: readonly string[]
}

const words = (text: string): readonly string[] => text.split(/\s+/).filter((word) => word !== '')

/** A row: what the folder holds, the folders it may import from beside itself, and the packages, `node:` ones included. */
const layer = (holds: string, folders = '', packages = ''): Layer => ({
  holds,
  mayImport: [...words(folders), ...words(packages).map((name) => `npm:${name}`)],
})

/** An adapter sees the rules and the ports. */
const adapter = (holds: string, packages = '', more = ''): Layer => layer(holds, `domain ports ${more}`, packages)

const ADAPTERS: Readonly<Record<string, Layer>> = {
  catalogue: adapter('believed window sizes and prices', '@pydantic/genai-prices'),
  claude: adapter(
    'Claude: runtimes, readers of what they send, and its settings',
    'zod node:child_process node:fs node:fs/promises node:os node:path node:timers/promises',
    'processes adapters/install adapters/place',
  ),
  cli: adapter(
    'the command `baton`',
    `commander node:fs node:fs/promises node:path node:readline node:stream/consumers node:timers/promises node:url node:util`,
    `services processes main adapters/files adapters/place
     adapters/catalogue adapters/hook-client adapters/hooks adapters/summary adapters/system adapters/terminal`,
  ),
  codex: adapter(
    'Codex: its runtime, readers of what it sends, and its settings',
    'smol-toml zod node:fs node:fs/promises node:os node:path node:timers/promises',
    'processes adapters/install adapters/place',
  ),
  config: adapter('configuration files', 'yaml zod node:fs node:fs/promises node:path'),
  doctor: adapter(
    'the checks of `baton doctor` that look at this machine',
    'smol-toml node:fs node:path node:url',
    'processes adapters/files adapters/install',
  ),
  files: layer(
    'private files: folders that are this user’s own, files that are replaced whole, and a lock for moments',
    'processes',
    'node:crypto node:fs node:os node:path node:timers/promises',
  ),
  git: adapter(
    'worktrees, and how git treats a file',
    'node:child_process node:fs/promises node:path node:timers/promises',
  ),
  'hook-client': adapter(
    'the hooks of terminal agents: a small client of the service that loads no store',
    'node:child_process node:crypto node:fs node:http node:net node:os node:path node:util',
    'processes adapters/files adapters/place',
  ),
  hooks: adapter(
    'the running of hooks',
    'node:crypto node:dns node:fs node:http node:https node:net node:os node:path',
    'processes',
  ),
  http: adapter(
    'the service over HTTP: routes, guards and the stream of events',
    '@hono/node-server hono hono/streaming zod node:fs node:http node:net',
    'services',
  ),
  install: adapter(
    'our entries in the settings of terminal agents: putting them in, finding them, giving files back',
    'jsonc-parser smol-toml node:fs node:path node:timers/promises node:util',
    'processes adapters/files adapters/place',
  ),
  mcp: adapter(
    'the tools that agents call over MCP, and the server that offers them',
    `@modelcontextprotocol/server @modelcontextprotocol/server/stdio zod
     node:crypto node:fs node:http node:net node:stream node:stream/promises node:stream/web`,
    'services',
  ),
  memory: adapter('the in-memory store', 'node:crypto'),
  'memory-file': adapter(
    'the one block that is ours in memory files of people',
    'node:crypto node:fs node:path node:timers/promises',
    'processes adapters/files',
  ),
  place: adapter(
    'the places of this person and machine: home, stores, services, workspaces',
    'node:crypto node:fs node:os node:path',
    'processes adapters/files',
  ),
  postgres: adapter(
    'the store on a server and embedded',
    `@electric-sql/pglite @electric-sql/pglite/nodefs kysely pg zod
     node:crypto node:fs node:fs/promises node:net node:os node:path`,
    'processes adapters/files adapters/place',
  ),
  redaction: adapter(
    'the hiding of secrets: the built-in rules, and the patterns and the program of a person',
    'node:child_process node:fs node:path node:vm',
    'adapters/files',
  ),
  runtime: adapter('any function or command as a runtime', '', 'processes'),
  summary: adapter('summaries of threads without a runtime of ours: from the record, or by any function'),
  system: adapter('the clock, ids and processes of this machine', 'uuid', 'processes'),
  telemetry: adapter('spans of runs and commands, and metrics', '@opentelemetry/api'),
  terminal: adapter(
    'the files of the service: token, spool, cards and transcripts',
    'zod node:crypto node:fs node:fs/promises node:os node:path node:timers/promises',
    'adapters/files adapters/place',
  ),
}

/** Stands for every adapter but the command line, which is started and not taken. */
export const ANY_ADAPTER = 'adapters/*'

/** Each layer, and the only places it may import from beside itself. `docs/design.md` shows this table. */
export const LAYERS: Readonly<Record<string, Layer>> = {
  domain: layer('rules: plain data and pure functions'),
  ports: layer(
    'interfaces to the outside, and what travels through them: tokens and hashes, too, are made in one way everywhere',
    'domain',
    'node:crypto',
  ),
  services: layer('load, decide, commit; the runner', 'domain ports'),
  processes: layer(
    'starting, reading and ending child processes, for every adapter that has some',
    'domain',
    'node:child_process node:crypto node:fs node:os node:path node:timers/promises',
  ),
  ...Object.fromEntries(Object.entries(ADAPTERS).map(([name, row]) => [`adapters/${name}`, row])),
  testing: layer('everything that `batonpass/testing` publishes', 'domain ports services', 'node:assert/strict'),
  main: layer(
    'composition: the only place where parts meet',
    `domain ports services processes ${ANY_ADAPTER} main/container.ts`,
    'node:fs node:module node:path node:url',
  ),
  'main/container.ts': layer(
    'the container: it alone knows how services get their parts',
    `domain ports services main ${ANY_ADAPTER}`,
    'reflect-metadata tsyringe',
  ),
  entry: layer(
    'the public surface: one list of names for each sub-path of the package',
    `domain ports services testing main main/container.ts ${ANY_ADAPTER}`,
  ),
}

/** A room of the domain. */
export interface Room extends Layer {
  readonly name: string
}

const room = (name: string, holds: string, ...mayImport: readonly string[]): Room => ({ name, holds, mayImport })

/** The rooms of the domain, lowest first: each may import only rooms that stand before it. */
export const ROOMS: readonly Room[] = [
  room('kernel', 'ids, times, results, transition tables: the material of every room'),
  room('secrets', 'the forms of keys and passwords, and how they are hidden', 'kernel'),
  room('budget', 'the limits of a conversation', 'kernel'),
  room('window', 'readings, pressure, milestones and the monitor of a window', 'kernel', 'budget'),
  room('turn', 'messages, tool calls and turns', 'kernel', 'window'),
  room('session', 'an agent session: its life, snapshots and signals', 'kernel', 'budget', 'window', 'turn'),
  room('conversation', 'a conversation: its life, its place and its prompts', 'kernel', 'budget', 'session'),
  room('checkpoint', 'the document for a successor, and the prompt it starts from', 'kernel', 'window', 'turn'),
  room(
    'handoff',
    'a handoff: its life, from initiating to settling',
    'kernel',
    'window',
    'turn',
    'session',
    'conversation',
    'checkpoint',
  ),
  room(
    'restart',
    'restarts of a session in a fresh window, and the budget for them',
    'kernel',
    'budget',
    'window',
    'session',
    'handoff',
  ),
  room(
    'recording',
    'turns as they go on record, and the handoffs and restarts that they lead to',
    'kernel',
    'budget',
    'window',
    'turn',
    'session',
    'handoff',
    'restart',
  ),
  room('summary', 'the summary that a new thread begins with', 'kernel', 'window', 'checkpoint'),
  room('memory-block', 'the one block of a memory file that is ours', 'kernel', 'summary'),
  room(
    'thread',
    'child conversations',
    'kernel',
    'window',
    'session',
    'conversation',
    'checkpoint',
    'handoff',
    'summary',
    'memory-block',
  ),
  room(
    'terminal',
    'documents that sessions of terminals leave, and whose session a candidate for one is',
    'kernel',
    'session',
    'conversation',
    'handoff',
    'thread',
  ),
  room('hooks', 'hooks: settings, answers and results', 'kernel', 'conversation'),
  room(
    'run',
    'the settings, events and summary of a run',
    'kernel',
    'secrets',
    'budget',
    'window',
    'turn',
    'session',
    'conversation',
    'checkpoint',
    'thread',
    'hooks',
  ),
  room(
    'audit',
    'the log: its hashes, its fold and its verdict',
    'kernel',
    'window',
    'turn',
    'session',
    'conversation',
    'handoff',
  ),
  room(
    'history',
    'questions about the past',
    'kernel',
    'window',
    'turn',
    'session',
    'conversation',
    'checkpoint',
    'handoff',
  ),
  room(
    'input',
    'checks of what callers pass',
    'kernel',
    'budget',
    'window',
    'turn',
    'session',
    'conversation',
    'checkpoint',
    'handoff',
    'hooks',
  ),
]

/** Files that name every room's part of one union. Any room but the kernel may import them. */
export const UNIONS: readonly string[] = ['audit-event.ts', 'decision.ts', 'facts.ts', 'refusal.ts', 'unwrap.ts']
