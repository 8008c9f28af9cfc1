import { WORDS } from '../invocation/flag-words.ts'
import type { CliCommand, Flags } from '../invocation/invocation.ts'
import { JSON_FLAG } from '../invocation/store-flags.ts'

const commands = () => import('../commands/install.ts')

const FOLDER_FLAG = {
  'data-dir': {
    value: 'DIR',
    help: 'the folder of the service, if it is not the usual one; it is then named in every hook',
  },
} as const satisfies Flags

const PROGRAM_FLAG = {
  command: {
    value: 'WORDS',
    help: 'how to start baton from the settings, word for word (this program, with the Node that runs it now)',
  },
} as const satisfies Flags

const DRY_FLAG = {
  'dry-run': { help: 'only show the difference, and write nothing' },
} as const satisfies Flags

const SCOPE_FLAG = {
  scope: {
    value: 'SCOPE',
    help: 'whose settings: yours everywhere, everybody’s in this project, or yours in this project (user)',
    words: WORDS.claudeScopes,
  },
} as const satisfies Flags

const BACK =
  'A file that nobody has changed since is given back byte for byte. From any other only our entries are taken, and a status line of your own is named again.'

/** The commands that put our hooks into the settings of terminal agents. */
export const INSTALL_COMMANDS = {
  'claude install': {
    summary: 'name our hooks, status line and MCP server in Claude Code’s settings',
    details: [
      'The command /baton:handoff comes with them. What is missing is added, and everything else stays as it is, to the byte; doing it twice changes nothing. A status line of your own is kept: ours runs it and prints it first.',
      'The hooks find the program without the PATH of the agent. Where it has gone they say nothing, and a status line of your own is still drawn.',
      'Files of --scope local are kept out of git by a line in .git/info/exclude, unless the repository ignores them already.',
      'Each file is changed whole or not at all. How it was before is kept in the folder of the service, for "baton claude uninstall".',
      'Exit status 3, with nothing changed, if a file cannot be understood or written.',
    ].join('\n'),
    flags: {
      ...SCOPE_FLAG,
      ...DRY_FLAG,
      'no-status-line': { help: 'without the status line' },
      'no-mcp': { help: 'without the MCP server' },
      'no-command': { help: 'without /baton:handoff' },
      ...PROGRAM_FLAG,
      ...FOLDER_FLAG,
      ...JSON_FLAG,
    },
    load: async () => (await commands()).claudeInstall,
  },
  'claude uninstall': {
    summary: 'take our entries out of the settings of Claude Code',
    details: `${BACK} Entries that another scope has put there too stay, and it is said for which.`,
    flags: { ...SCOPE_FLAG, ...DRY_FLAG, ...FOLDER_FLAG, ...JSON_FLAG },
    load: async () => (await commands()).claudeUninstall,
  },
  'claude status': {
    summary: 'show what of ours is in which settings of Claude Code',
    details:
      'For each scope: installed, plugin (the plugin of Claude Code, switched on there, brings it), incomplete, outdated (started in another way than "baton claude install" would write now), foreign, or absent. Changes nothing.',
    flags: { ...PROGRAM_FLAG, ...FOLDER_FLAG, ...JSON_FLAG },
    load: async () => (await commands()).claudeStatus,
  },
  'codex install': {
    summary: 'name our hooks and MCP server in Codex’s settings',
    details:
      'In hooks.json and config.toml of ~/.codex, or of CODEX_HOME. Codex asks you once whether you trust the hooks. It has no status line that another program draws.',
    flags: {
      ...DRY_FLAG,
      'no-mcp': { help: 'without the MCP server' },
      ...PROGRAM_FLAG,
      ...FOLDER_FLAG,
      ...JSON_FLAG,
    },
    load: async () => (await commands()).codexInstall,
  },
  'codex uninstall': {
    summary: 'take our entries out of the settings of Codex',
    details: BACK,
    flags: { ...DRY_FLAG, ...FOLDER_FLAG, ...JSON_FLAG },
    load: async () => (await commands()).codexUninstall,
  },
  'codex status': {
    summary: 'show what of ours is in the settings of Codex',
    details: 'Changes nothing.',
    flags: { ...PROGRAM_FLAG, ...FOLDER_FLAG, ...JSON_FLAG },
    load: async () => (await commands()).codexStatus,
  },
} as const satisfies Readonly<Record<string, CliCommand>>
