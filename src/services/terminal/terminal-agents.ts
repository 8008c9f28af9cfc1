import type { TerminalRuntime } from '../../ports/terminal/terminal-files.ts'

/** The sessions of each runtime are kept as the agent that people know. */
export const AGENTS = {
  claude: { agentName: 'claude-code', backend: 'claude_code' },
  codex: { agentName: 'codex', backend: 'codex' },
} as const satisfies Record<TerminalRuntime, { readonly agentName: string; readonly backend: string }>
