import { SHELLS } from '../invocation/flag-words.ts'
import type { CliCommand } from '../invocation/invocation.ts'
import { JSON_FLAG, SERVICE_FLAGS, STORE_FLAGS } from '../invocation/store-flags.ts'

const migrate = () => import('../commands/migrate.ts')

const LOCK_WAIT = {
  'lock-wait': { value: 'TIME', help: 'how long to try to get tables that others use, such as 30s or 1h (5m)' },
} as const

/** The commands that look after the store itself. */
export const KEEPING_COMMANDS = {
  init: {
    summary: 'make a store for this project, or adopt one that is there',
    takes: '[DIR]',
    details: [
      'Makes .batonpass/ in DIR (the working directory). Commands, hooks, the service and programs in DIR and below it use that store from then on, unless another one is named. Everything else uses your own store, in ~/.batonpass.',
      'The store gets a random id, and the id and its path are noted in your private list, ~/.batonpass/stores.json. A .batonpass/ that is not on that list, because it is older, came with a repository or was moved, is used by nothing: adopt it only if it is yours.',
      'Doing it again changes nothing. Exit status 0 done, 3 refused: the home folder, a folder of somebody else, a store that is in use.',
    ].join('\n'),
    flags: {
      adopt: { help: 'use the .batonpass/ that is there, from now on' },
      move: { help: 'make the .batonpass/ that is there your own store in the home folder, which must have none' },
      ...JSON_FLAG,
    },
    load: async () => (await import('../commands/init.ts')).initCommand,
  },
  doctor: {
    summary: 'look for what is wrong, and say how to repair it',
    details: [
      'Node, the store and why it is this one, its folder, lock and disk, the server with its version, clock and pooler, the schema and every difference from what the migrations make, rights, the configuration file, hooks in Claude Code and Codex and whether they are called, the service, and what killed processes left.',
      'Changes nothing. Each finding is ok, a warning or a problem, with its repair; no secret is shown.',
      'Exit status 0 when there is no problem, 1 when there is one. As JSON: {problems, warnings, findings}.',
    ].join('\n'),
    flags: SERVICE_FLAGS,
    load: async () => (await import('../commands/doctor.ts')).doctor,
  },
  'migrate up': {
    summary: 'apply what the schema lacks',
    details:
      'Any number of processes may do this at once; each change is applied once. A table that others use is waited for a second at a time, so that nobody is kept waiting for longer; who is in the way is said on standard error.',
    flags: { ...LOCK_WAIT, ...STORE_FLAGS },
    load: async () => (await migrate()).migrateUp,
  },
  'migrate down': {
    summary: 'undo the newest changes of the schema, with the data in them',
    takes: '[COUNT]',
    words: ['all'],
    details: 'COUNT is how many changes to undo (1), or "all".',
    flags: {
      yes: { help: 'yes, destroy that data; only a backup can bring it back' },
      ...LOCK_WAIT,
      ...STORE_FLAGS,
    },
    load: async () => (await migrate()).migrateDown,
  },
  'migrate status': {
    summary: 'show which changes the schema has and lacks',
    details:
      'Changes nothing. "unknown" is a change that a newer version of Batonpass made, or one of before the first release. Exit status 0 when nothing is pending, 8 when something is.',
    flags: STORE_FLAGS,
    load: async () => (await migrate()).migrateStatus,
  },
  'migrate sql': {
    summary: 'print the schema as SQL, to be run by hand',
    details: 'All of it, for an empty database, or the changes after a version. Needs no database to print it.',
    flags: {
      from: { value: 'VERSION', help: 'only the changes after this one, such as 0007 or its whole name' },
      ...STORE_FLAGS,
    },
    load: async () => (await migrate()).migrateSql,
  },
  prune: {
    summary: 'forget commands that nobody repeats any more',
    details: [
      'A command that was carried out is remembered, so that repeating it gives the first answer. This command forgets the old ones, a few at a time, while others work; stopping it is safe. A forgotten command that is repeated acts again.',
      'Sessions, handoffs and the audit log stay as they are. A program that lives long does the same now and then.',
    ].join('\n'),
    flags: {
      'older-than': { value: 'TIME', help: 'such as 36h or 30d, an hour at least (7d)' },
      config: { value: 'FILE', help: 'the time in a configuration (commands.retention)' },
      'dry-run': { help: 'only say how many' },
      ...STORE_FLAGS,
    },
    load: async () => (await import('../commands/prune.ts')).pruneCommand,
  },
} as const satisfies Readonly<Record<string, CliCommand>>

/** The commands about the command itself. */
export const ABOUT_COMMANDS = {
  completion: {
    summary: 'print a script that completes commands and flags in a shell',
    takes: '[SHELL]',
    words: SHELLS,
    details:
      'For bash: source <(baton completion bash). For zsh: source <(baton completion zsh). For fish: baton completion fish | source.',
    flags: {},
    load: async () => (await import('./completion.ts')).completion,
  },
} as const satisfies Readonly<Record<string, CliCommand>>
