import type { CliCommand } from '../invocation/invocation.ts'
import { PAGE_FLAGS } from '../invocation/list-flags.ts'
import { JSON_FLAG, KEY_FLAG, STORE_FLAGS } from '../invocation/store-flags.ts'

const WORKSPACE = { workspace: { value: 'DIR', help: 'a folder of the workspace (the working directory)' } } as const

/** The commands that open threads with a summary, look after summaries in memory files, and list them. */
export const THREAD_COMMANDS = {
  'thread handoff': {
    summary: 'open a new thread that takes along a short summary, which you approve',
    takes: '[WHICH]',
    details: [
      'A bridge, not a fork. A bridge begins a new thread with an empty window and a short summary of the old one: what matters, and nothing else. A fork would copy the whole history, and its full window with it; Batonpass never does that. The old thread stays as it is, and you may work on in it.',
      'The summary goes into the block between <current_thread_summary> and </current_thread_summary> of the memory file that the agent reads when it starts (CLAUDE.md, or AGENTS.md for Codex). It is there for the first exchange of the new thread, and taken out after it; a thread that never begins loses it after a day.',
      'On a terminal the summary is shown and you are asked: accept it, edit it in $VISUAL or $EDITOR, have it refined (3 times at most), reject it for a new thread without a summary, or quit. Elsewhere nothing is ever asked: say --preview, --apply or --without. After --preview, --apply writes exactly the words that were shown; they are kept for a day, in a private file.',
      'The conversation is WHICH: a key, an id or its last 6 characters, of a conversation or a session; else the session that you are in, inside of Claude Code; else, where you see it before anything is written, the latest one in this workspace. Without --model nothing leaves this machine: the summary quotes the record.',
      'Exit status 0 done, 3 refused: such as a block that waits for another thread, or a file that git keeps (then --yes, or --file).',
    ].join('\n'),
    flags: {
      preview: { help: 'show the summary, and keep it for --apply; no thread is opened' },
      apply: { help: 'open the thread without asking, with the words that --preview showed last if it did' },
      'as-shown': { help: 'these words also if the conversation has more turns by now' },
      edit: { help: 'edit the summary in $VISUAL or $EDITOR, then open the thread' },
      without: { help: 'open a new thread without a summary' },
      from: { value: 'WHICH', help: 'the same as WHICH' },
      ...KEY_FLAG,
      'to-key': { value: 'KEY', help: 'a key of your own for the new thread' },
      task: { value: 'TEXT', help: 'the task of the new thread (that of the old one)' },
      summary: { value: 'FILE', help: 'your own summary instead, "-" for standard input' },
      feedback: { value: 'TEXT', help: 'what to change in the summary; may be repeated', isMany: true },
      file: { value: 'NAME', help: 'the memory file in the workspace, such as CLAUDE.local.md' },
      budget: { value: 'TOKENS', help: 'the most tokens of the summary, 100 to 2000 (300)' },
      model: { value: 'NAME', help: 'a model of Claude that writes the summary' },
      extractive: { help: 'quote the record, whatever the configuration says' },
      yes: { help: 'also into a file that git keeps' },
      config: { value: 'FILE', help: 'a configuration (threads)' },
      ...WORKSPACE,
      ...STORE_FLAGS,
    },
    load: async () => (await import('../commands/thread-handoff.ts')).threadHandoff,
  },
  'thread setup': {
    summary: 'put the empty block into the memory file of this workspace',
    details:
      'Once, under a heading at the top; everything else in the file stays as it is. It need not be done: the first summary brings the block along. Exit status 0, or 3 when the markers in the file are not one pair.',
    flags: {
      file: { value: 'NAME', help: 'the memory file (CLAUDE.md, or the one of the configuration)' },
      config: { value: 'FILE', help: 'a configuration (threads)' },
      ...WORKSPACE,
      ...JSON_FLAG,
    },
    load: async () => (await import('../commands/thread-blocks.ts')).threadSetup,
  },
  'thread status': {
    summary: 'show the summaries in the memory files of this workspace',
    details: 'For whom each waits and until when. Changes nothing. Exit status 0, also when there is none.',
    flags: { config: { value: 'FILE', help: 'a configuration (threads)' }, ...WORKSPACE, ...STORE_FLAGS },
    load: async () => (await import('../commands/thread-blocks.ts')).threadStatus,
  },
  'thread cleanup': {
    summary: 'take summaries out of the memory files of this workspace that are over',
    details:
      'Over is a summary whose thread has had its first exchange, or whose time has passed. Doing it twice changes nothing. Exit status 0, or 1 when one could not be taken out.',
    flags: {
      force: { help: 'also those that still wait for their thread, which then begins without' },
      config: { value: 'FILE', help: 'a configuration (threads)' },
      ...WORKSPACE,
      ...STORE_FLAGS,
    },
    load: async () => (await import('../commands/thread-blocks.ts')).threadCleanup,
  },
  'thread history': {
    summary: 'list the summaries that new threads began with, newest first',
    details:
      'Every flag narrows the list down further. With --figures: how many there are by agent and model, counted over the newest 10,000 that match.',
    flags: {
      agent: { value: 'NAME', help: 'summaries of threads of this agent' },
      from: { value: 'WHICH', help: 'summaries of this conversation, named in any way' },
      since: {
        value: 'TIME',
        help: 'accepted then or later, such as 2026-11-16 or 2026-11-16T03:45; local time unless it ends in a zone',
      },
      until: { value: 'TIME', help: 'accepted before then' },
      figures: { help: 'figures instead of the list' },
      ...PAGE_FLAGS,
      ...STORE_FLAGS,
    },
    load: async () => (await import('../commands/thread-history.ts')).threadHistory,
  },
} as const satisfies Readonly<Record<string, CliCommand>>
