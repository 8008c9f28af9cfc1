import { WORDS } from '../invocation/flag-words.ts'
import type { CliCommand } from '../invocation/invocation.ts'
import { LIMIT_FLAGS, LOOK_BACK_FLAG, NETWORK_FLAGS, RUN_FLAGS, RUNTIME_FLAGS } from '../invocation/run-flags.ts'
import { JSON_FLAG, PLACE_FLAGS, SERVICE_FLAGS, STORE_FLAGS } from '../invocation/store-flags.ts'

/** The commands that run agents, or follow what agents did. */
export const WORK_COMMANDS = {
  demo: {
    summary: 'take a scripted agent through a handoff and print the lineage',
    details:
      'Keeps its store in batonpass-demo/ of the working directory, unless a flag names another. No variable counts.',
    flags: STORE_FLAGS,
    load: async () => (await import('../commands/demo.ts')).demo,
  },
  run: {
    summary: 'run an agent, and continue in a fresh window when its window is full',
    takes: '[PROMPT]',
    details: [
      'The prompt is a word of the command line, "-" for standard input, or --prompt-file FILE.',
      'The agent’s answers go to standard output, the progress to standard error.',
      'Ctrl-C cancels the run and pauses its session; a second Ctrl-C ends it at once.',
      'Secrets are hidden from the record and from what is printed, unless the configuration says redact: off; how many is said at the end.',
      'Exit status: 0 completed, 1 failed, 4 no restart left, 5 out of time, 6 taken over by another, 9 handed to an agent that takes no part in the run, 10 every attempt to change a file was refused, 130 cancelled; 2 and 3 as everywhere.',
    ].join('\n'),
    flags: RUN_FLAGS,
    load: async () => (await import('../commands/run.ts')).runCommand,
  },
  work: {
    summary: 'work for an agent: take up what is handed to it, until you stop it',
    details: [
      'Claims the oldest handoff that waits for the agent, or for one of the agents of a file, runs it as `baton run` would, and looks for the next one. Sessions of these agents whose process was lost are resumed too.',
      'Any number of processes may work for the same agent, on as many machines as share a server. One that is killed loses nothing: its claim or its lease runs out, and another takes over.',
      'It is woken when something is handed over, where the server is reached directly; it says so, and looks now and then in any case.',
      'Ctrl-C or TERM takes up nothing more and finishes what is under way; a second one ends it at once. With --drain-for, what is not finished by then is handed back: its agent is interrupted, and another worker resumes the session.',
    ].join('\n'),
    flags: {
      agent: { value: 'NAME', help: 'the agent to work for' },
      agents: { value: 'FILE', help: 'a configuration whose agents to work for' },
      concurrency: { value: 'N', help: 'how many handoffs at the same time (1)' },
      'drain-for': {
        value: 'TIME',
        help: 'how long to finish what is under way when it is stopped, such as 30s; as long as it takes',
      },
      config: { value: 'FILE', help: 'milestones, budget, hooks and checkpoints; flags count before it' },
      verbose: { help: 'print the log to standard error' },
      ...NETWORK_FLAGS,
      'max-turns': LIMIT_FLAGS['max-turns'],
      'idle-timeout': LIMIT_FLAGS['idle-timeout'],
      'allow-unpriced': LIMIT_FLAGS['allow-unpriced'],
      ...RUNTIME_FLAGS,
      ...STORE_FLAGS,
    },
    load: async () => (await import('../commands/work.ts')).workCommand,
  },
  recover: {
    summary: 'resume the orphaned work of a lost process, or fail it',
    details: [
      'Finds sessions whose lease has expired, and restarts that were not finished, and resumes each on its runtime. A session whose runtime is not available here is left as it is.',
      'Any number of processes may recover at once. Exit status 0 when there was nothing to do, or all of it was done; 1 when a resumed run did not complete.',
      'A session whose process may still live can be recovered when its lease has expired, and is named with that time. If its process ran on this machine and has ended, recovery does not wait.',
      'The limits are those of each resumed run; a number is the new total of its conversation.',
    ].join('\n'),
    flags: {
      wait: { help: 'wait for the leases that have not expired yet, and recover their sessions' },
      fail: { help: 'fail all of it instead of resuming it' },
      verbose: { help: 'print the log to standard error' },
      config: { value: 'FILE', help: 'hooks and checkpoints of the resumed runs' },
      agents: { value: 'FILE', help: 'a configuration with the agents that hand work to each other or delegate' },
      ...LOOK_BACK_FLAG,
      ...NETWORK_FLAGS,
      ...LIMIT_FLAGS,
      ...RUNTIME_FLAGS,
      ...STORE_FLAGS,
    },
    load: async () => (await import('../commands/recover.ts')).recoverCommand,
  },
  status: {
    summary: 'show what runs now: sessions, their windows and holders, handoffs and signals that wait',
    details: [
      'Sessions that are active, paused or held; how full their windows are; whose process holds each and until when; open handoffs and their claims; signals nobody has acknowledged; and whether the service runs. Changes nothing.',
      'With --watch it is drawn again every 2 seconds, or as many as you say: in place on a terminal, otherwise one block after the other, with --json one document a line. Ctrl-C ends it.',
      'Exit status 0, also when nothing runs or there is no store yet.',
    ].join('\n'),
    flags: {
      watch: { value: 'SECONDS', isValueOptional: true, help: 'draw it again and again (every 2 seconds)' },
      ...SERVICE_FLAGS,
    },
    load: async () => (await import('../commands/status.ts')).statusCommand,
  },
  handoff: {
    summary: 'leave a document for the next session of this workspace, or hand over to another agent',
    takes: '[FILE]',
    details: [
      'FILE is the document, or "-" for standard input; a megabyte at most. It waits for 7 days. The next session in the same workspace (the git worktree, or the folder) begins with it and with what you said, and its first turn takes the work over. Nobody is blocked meanwhile.',
      'The session is the one that works in this workspace. Where there are several, name one with --session; inside of Claude Code it is the one that you are in.',
      'With --target another agent is to take over: that handoff begins at once, and the session waits.',
      'Starts the service if none runs. Where none can be started, the document is kept: the next service takes it, and you are told where it is. Exit status 0 done or kept, 3 refused or nothing there.',
    ].join('\n'),
    flags: {
      reason: { value: 'TEXT', help: 'why; it is on record' },
      target: { value: 'AGENT', help: 'another agent that is to take over' },
      session: { value: 'ID', help: 'the session, by the id of its runtime or ours' },
      workspace: { value: 'DIR', help: 'a folder of the workspace (the working directory)' },
      show: { help: 'print the document that waits here' },
      withdraw: { help: 'take the document back that waits here' },
      ...JSON_FLAG,
      ...PLACE_FLAGS,
    },
    load: async () => (await import('../commands/handoff.ts')).handoffDocumentCommand,
  },
  serve: {
    summary: 'run the service that terminal sessions report to',
    details: [
      'Hooks start it by themselves when it is not there. It listens on a socket in its folder, which only you can use, and is one for each store. Its folder is that of the embedded store, or --data-dir, or one for the server below ~/.batonpass/servers. The folder holds its token, its spool and the cards of sessions. A folder of another user, or one that others may write to, is refused.',
      'With --port it also listens on that port of 127.0.0.1, where every program of this machine can connect and needs a token. Where no socket can be made it listens on a port in any case, and proves to its clients that it is the one.',
      'Prints its address to standard error; with --json a line with socket, port and pid to standard output. Ctrl-C ends it in good order.',
    ].join('\n'),
    flags: {
      port: { value: 'NUMBER', help: 'listen on this port as well; 0 lets the system choose; none unless given' },
      'idle-timeout': {
        value: 'TIME',
        help: 'end once nobody has used it for so long, such as 30m; never unless given',
      },
      'started-by-hook': {
        help: 'as hooks start it: a second one ends with status 0',
      },
      verbose: { help: 'print the log to standard error' },
      ...STORE_FLAGS,
    },
    load: async () => (await import('../commands/serve.ts')).serveCommand,
  },
  replay: {
    summary: 'follow a recorded session and say where each milestone would have fired',
    takes: '[FILE...]',
    details:
      'Reads Claude Code transcripts, Claude Agent SDK streams, Claude status lines, Codex rollouts and events of codex exec, one JSON record a line; of a folder, every .jsonl file below it. Nothing is stored unless --store is given. Secrets in the texts are hidden before they are stored.',
    flags: {
      milestones: { value: 'LIST', help: 'fractions of the usable window, each higher than the last: 0.5,0.65,0.85' },
      window: { value: 'TOKENS', help: 'your own limit; the runtime’s limit is used when it is smaller' },
      format: { value: 'NAME', help: 'the format, instead of recognising it', words: WORDS.formats },
      store: { help: 'keep each recording as a conversation, once, with prompts of unknown origin' },
      ...STORE_FLAGS,
    },
    load: async () => (await import('../commands/replay.ts')).replayCommand,
  },
  'config check': {
    summary: 'show the settings a configuration file gives, or what is wrong with it',
    takes: '[FILE]',
    details: [
      'Without FILE it looks for batonpass.yaml, batonpass.yml, batonpass.json in the working directory.',
      'Shows every setting in force and the key it comes from, or every problem of the file.',
      'Notes which hooks would be refused with the variables that are set now. Nothing is sent, no name is looked up.',
      'Exit status 0 when the file can be used, 3 when not. As JSON: {file, settings, remarks}, or {file, problems}; durations in milliseconds.',
    ].join('\n'),
    flags: { ...NETWORK_FLAGS, ...JSON_FLAG },
    load: async () => (await import('../commands/config-check.ts')).configCheck,
  },
} as const satisfies Readonly<Record<string, CliCommand>>
