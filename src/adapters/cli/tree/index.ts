import type { CliCommand } from '../invocation/invocation.ts'
import { HISTORY_COMMANDS } from './history-commands.ts'
import { HOOK_COMMANDS, MCP_COMMANDS } from './hook-commands.ts'
import { INSTALL_COMMANDS } from './install-commands.ts'
import { ABOUT_COMMANDS, KEEPING_COMMANDS } from './store-commands.ts'
import { THREAD_COMMANDS } from './thread-commands.ts'
import { WORK_COMMANDS } from './work-commands.ts'

/** Every command by its words, in the order help lists them. */
export const CLI_COMMANDS: Readonly<Record<string, CliCommand>> = {
  ...WORK_COMMANDS,
  ...HISTORY_COMMANDS,
  ...THREAD_COMMANDS,
  ...INSTALL_COMMANDS,
  ...HOOK_COMMANDS,
  ...MCP_COMMANDS,
  ...KEEPING_COMMANDS,
  ...ABOUT_COMMANDS,
}

/** The groups that commands of two words belong to, and one line of help for each. */
export const GROUPS: Readonly<Record<string, string>> = {
  config: 'check configuration files: check',
  audit: 'ask the audit log, and prove that it is intact: trail, verify, query',
  conversations: 'look at conversations: list, show',
  sessions: 'look at sessions: list, show, window',
  handoffs: 'look at handoffs: list, show',
  thread: 'open a new thread with a short summary, and look after summaries: handoff, setup, status, cleanup, history',
  claude: 'put our hooks into the settings of Claude Code: install, uninstall, status',
  codex: 'put our hooks into the settings of Codex: install, uninstall, status',
  hook: 'answer the hooks of Claude Code and Codex: statusline, session-start and six others',
  migrate: 'change the schema of the database: up, down, status, sql',
}
