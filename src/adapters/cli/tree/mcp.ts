import type { CliCommand } from './command.ts'
import { SERVICE_FLAGS } from './store-flags.ts'
import { WORDS } from './words.ts'

const { 'data-dir': dataDir, 'database-file': databaseFile, pooled, schema } = SERVICE_FLAGS

/** The server that agents ask over MCP. As with hooks, no flag takes an address: an agent's settings are no place for a secret. */
export const MCP_COMMANDS = {
  mcp: {
    summary: 'answer an agent over MCP: its window, its history, handoffs',
    details: [
      'Started by the agent, as its settings say. Speaks MCP over standard input and output, until the agent closes them. Tools: get_context_remaining, handoff, read_handoff, search_history, lineage, look_back; handoffs are resources too.',
      'It finds out at each call which session asks. Where it cannot, --session names it.',
      'The store is chosen as everywhere, from the folder of the project that the session is in.',
    ].join('\n'),
    flags: {
      session: { value: 'ID', help: 'the session that asks, instead of finding it out' },
      runtime: {
        value: 'NAME',
        help: 'take only sessions of this runtime for the one that asks',
        words: WORDS.hookRuntimes,
      },
      all: { help: 'let the agent read every conversation, not its own only' },
      'data-dir': dataDir,
      'database-file': databaseFile,
      pooled,
      schema,
    },
    load: async () => (await import('../commands/mcp.ts')).mcpCommand,
  },
} as const satisfies Readonly<Record<string, CliCommand>>
