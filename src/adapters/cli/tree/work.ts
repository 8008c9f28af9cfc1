import type { CliCommand } from '../command.ts'
import { LIMIT_FLAGS, NETWORK_FLAGS, RUN_FLAGS, RUNTIME_FLAGS } from './run-flags.ts'
import { JSON_FLAG, STORE_FLAGS } from './store-flags.ts'
import { WORDS } from './words.ts'

/** The commands that run agents, or follow what agents did. */
export const WORK_COMMANDS = {
  demo: {
    summary: 'take a scripted agent through a handoff and print the lineage',
    flags: STORE_FLAGS,
    load: async () => (await import('../commands/demo.ts')).demo,
  },
  run: {
    summary: 'run an agent, and go on in a fresh window when its window is full',
    takes: '[PROMPT]',
    details: [
      'The prompt is a word of the command line, "-" for standard input, or --prompt-file FILE.',
      'What the agent says goes to standard output, how it is coming along to standard error.',
      'Ctrl-C cancels the run in good order; once more ends it at once.',
      'Exit status: 0 completed, 1 failed, 4 no restart left, 5 out of time, 6 taken over by another, 130 cancelled; 2 and 3 as everywhere.',
    ].join('\n'),
    flags: RUN_FLAGS,
    load: async () => (await import('../commands/run.ts')).runCommand,
  },
  recover: {
    summary: 'resume the orphaned work of a lost process, or fail it',
    details: [
      'Finds sessions whose process was not heard of in time, and restarts that were under way, and resumes each on the runtime it ran on. A session that cannot run here is left to somebody who can.',
      'Any number of processes may recover at once. Exit status 0 when there was nothing to do, or all of it was done; 1 when a resumed run did not complete.',
      'A session whose process may still live waits until its lease is over, and is named with that time. One whose process ran on this machine and has ended is not waited for.',
      'The limits are those of each resumed run; a number is the new total of its conversation.',
    ].join('\n'),
    flags: {
      wait: { help: 'wait for the leases that are not over yet, and recover what they leave' },
      fail: { help: 'fail all of it instead of resuming it' },
      verbose: { help: 'print the log to standard error' },
      config: { value: 'FILE', help: 'hooks and checkpoints of the resumed runs' },
      ...NETWORK_FLAGS,
      ...LIMIT_FLAGS,
      ...RUNTIME_FLAGS,
      ...STORE_FLAGS,
    },
    load: async () => (await import('../commands/recover.ts')).recoverCommand,
  },
  replay: {
    summary: 'follow a recorded session and say where each milestone would have fired',
    takes: '[FILE...]',
    details:
      'Reads Claude Code transcripts, Claude Agent SDK streams, Claude status lines, Codex rollouts and events of codex exec, one JSON record a line; of a folder, every .jsonl file below it. Nothing is stored unless --store is given.',
    flags: {
      milestones: { value: 'LIST', help: 'fractions of the usable window, each higher than the last: 0.5,0.65,0.85' },
      window: { value: 'TOKENS', help: 'a limit of your own; the runtime’s is used when it is smaller' },
      format: { value: 'NAME', help: 'the format, instead of looking', words: WORDS.formats },
      store: { help: 'keep each recording as a conversation; once, however often it is imported' },
      ...STORE_FLAGS,
    },
    load: async () => (await import('../commands/replay.ts')).replayCommand,
  },
  'config check': {
    summary: 'show the settings a configuration file gives, or what is wrong with it',
    takes: '[FILE]',
    details: [
      'Without FILE it looks for batonpass.yaml, batonpass.yml, batonpass.json in the working directory.',
      'Shows every setting in force and the key it comes from, or everything that is wrong with the file.',
      'Notes which hooks would be refused with the variables that are set now. Nothing is sent, no name is looked up.',
      'Exit status 0 when the file can be used, 3 when not. As JSON: {file, settings, remarks}, or {file, problems}; durations in milliseconds.',
    ].join('\n'),
    flags: { ...NETWORK_FLAGS, ...JSON_FLAG },
    load: async () => (await import('../commands/config-check.ts')).configCheck,
  },
} as const satisfies Readonly<Record<string, CliCommand>>
