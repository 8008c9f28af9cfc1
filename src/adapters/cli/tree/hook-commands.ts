import { WORDS } from '../invocation/flag-words.ts'
import type { CliCommand, Flags, Run } from '../invocation/invocation.ts'
import { PLACE_FLAGS, SERVICE_FLAGS } from '../invocation/store-flags.ts'

const RUNTIME_FLAG = {
  runtime: { value: 'NAME', help: 'whose hook it is (claude)', words: WORDS.hookRuntimes },
} as const satisfies Flags

/** Written so, because an object with such a field would look like a promise. */
const THEN = 'then'

const HOW = 'Reads the hook’s JSON from standard input. Exit status 0 whatever happens, within half a second.'

const hook = (event: string, summary: string, details: string): CliCommand => ({
  summary,
  details: `${details}\n${HOW}`,
  flags: { ...RUNTIME_FLAG, ...PLACE_FLAGS },
  load: async () => hookCommand(event),
})

/** The hooks of terminal agents. The program `baton` runs them without this tree: it would take too long to load. */
export const HOOK_COMMANDS = {
  'hook statusline': {
    summary: 'print a status line for Claude Code, and pass its sample on to the service',
    details: [
      'One line: how full the window is, a bar with the milestones, the cost, restarts, and notices. Codex has no such hook.',
      'Colour is left out with NO_COLOR. The width is --width, else that of the terminal (COLUMNS, else 80) less 4 columns, which Claude Code keeps for itself.',
      HOW,
    ].join('\n'),
    flags: {
      width: { value: 'N', help: 'how many columns the line may take' },
      'no-color': { help: 'no colour' },
      [THEN]: {
        value: 'COMMAND',
        help: 'the status line you had before: it is run on the same input, and its output is printed first',
      },
      ...RUNTIME_FLAG,
      ...PLACE_FLAGS,
    },
    load: async () => hookCommand('statusline'),
  },
  'hook session-start': hook(
    'session-start',
    'SessionStart: a session begins, or was compacted',
    'Registers the session, starts the service if none runs, and gives the agent what waits for it.',
  ),
  'hook user-prompt-submit': hook(
    'user-prompt-submit',
    'UserPromptSubmit: a person asks something',
    'Gives the agent, and the person, every signal that waits.',
  ),
  'hook post-tool-use': hook(
    'post-tool-use',
    'PostToolUse, PostToolUseFailure or PostToolBatch: tools were used',
    'Gives the agent urgent signals before its next request. PostToolBatch is called once for many tools.',
  ),
  'hook pre-compact': hook(
    'pre-compact',
    'PreCompact: the runtime is about to compact',
    'Nothing counts until it has. Prints nothing.',
  ),
  'hook post-compact': hook(
    'post-compact',
    'PostCompact: the runtime has compacted',
    'A new cycle of milestones begins. Prints nothing.',
  ),
  'hook stop': hook(
    'stop',
    'Stop: the agent has answered',
    'The service reads the new part of the transcript. Signals are shown to the person only: one for the agent would make it keep working.',
  ),
  'hook session-end': hook('session-end', 'SessionEnd: a session ends', 'Prints nothing.'),
} as const satisfies Readonly<Record<string, CliCommand>>

/** Runs a hook from the command tree, as `main.ts` does without it. */
const hookCommand =
  (event: string): Run =>
  async ({ values }) => {
    const { runHook } = await import('../../../main/hook.ts')
    const flags = Object.entries(values).map(([name, value]) => (value === true ? `--${name}` : `--${name}=${value}`))
    await runHook([event, ...flags])
  }

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
