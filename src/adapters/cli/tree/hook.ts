import type { CliCommand, Flags } from './command.ts'
import { PLACE_FLAGS } from './store-flags.ts'
import { WORDS } from './words.ts'

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
  load: async () => (await import('../commands/hook.ts')).hookCommand(event),
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
    load: async () => (await import('../commands/hook.ts')).hookCommand('statusline'),
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
    'The service reads the new part of the transcript. Signals are shown to the person only: one for the agent would make it go on working.',
  ),
  'hook session-end': hook('session-end', 'SessionEnd: a session ends', 'Prints nothing.'),
} as const satisfies Readonly<Record<string, CliCommand>>
