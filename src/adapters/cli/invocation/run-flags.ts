import { AGENT_RUNTIMES, inSentence } from '../../../main/runtimes.ts'
import { WORDS } from './flag-words.ts'
import type { Flags } from './invocation.ts'
import { STORE_FLAGS } from './store-flags.ts'

const runtime = 'Runtime:'

/** The flags that choose what runs an agent. */
export const RUNTIME_FLAGS = {
  runtime: {
    value: 'NAME',
    help: `the runtime of the agent (the first of ${inSentence(AGENT_RUNTIMES, 'and')} that is installed)`,
    words: WORDS.runtimes,
    group: runtime,
  },
  command: {
    value: 'LINE',
    help: 'the program to run, such as "my-agent --json": it reads the prompt from its standard input and writes JSON lines that `baton replay` can read',
    group: runtime,
  },
  model: { value: 'NAME', help: 'the model to ask for', group: runtime },
  'permission-mode': {
    value: 'MODE',
    help: 'what the agent may do without asking, such as acceptEdits or bypassPermissions for Claude, workspace-write for Codex (as the runtime itself does)',
    group: runtime,
  },
  'no-auto-compact': {
    help: 'Claude does not compact by itself: a full window leads to a restart, or ends the run',
    group: runtime,
  },
} as const satisfies Flags

/** The flag that opens private networks to webhooks. No file can: it may come from anywhere. */
export const NETWORK_FLAGS = {
  'allow-network': {
    value: 'CIDR',
    help: 'a private network that webhooks may reach, such as 10.20.0.0/16; may be repeated',
    isMany: true,
  },
} as const satisfies Flags

const limits = 'Limits:'

/** The flags that limit a run, and one that is recovered. */
export const LIMIT_FLAGS = {
  'max-restarts': {
    value: 'N',
    help: 'restarts since the latest new prompt (3); on a later run it is the new total',
    group: limits,
  },
  'max-takeovers': {
    value: 'N',
    help: 'how often a lost process may be replaced since then (5)',
    group: limits,
  },
  'max-cost': {
    value: 'USD',
    help: 'dollars for the whole conversation, over all its runs (no cap)',
    group: limits,
  },
  'allow-unpriced': { help: 'under a cap, use a model without a list price too: it is not counted', group: limits },
  'max-turns': { value: 'N', help: 'turns of this run (no limit)', group: limits },
  'max-threads': {
    value: 'N',
    help: 'threads that the agents of --agents may delegate, over the whole tree (50)',
    group: limits,
  },
  'max-depth': { value: 'N', help: 'how deep they may be delegated (3)', group: limits },
  deadline: { value: 'TIME', help: 'time for the whole conversation, such as 30m or 2h (none)', group: limits },
  'idle-timeout': {
    value: 'TIME',
    help: 'end an agent that is silent for this time; it is silent while a tool runs (none)',
    group: limits,
  },
} as const satisfies Flags

/** Switches the tool off that every run offers to continued sessions. */
export const LOOK_BACK_FLAG = {
  'no-look-back': { help: 'no tool for the agent to look up earlier windows of the conversation' },
} as const satisfies Flags

/** The flags of a run. */
export const RUN_FLAGS = {
  agent: {
    value: 'NAME',
    help: 'the agent’s name in the record (the name of the runtime); one of the agents of the configuration, if it names any',
  },
  agents: {
    value: 'FILE',
    help: 'a configuration with several agents, who may hand the work to each other; the first begins, or --agent',
  },
  conversation: {
    value: 'KEY',
    help: 'your own key for the work: with the same key the work continues where it stopped',
  },
  policy: { value: 'WORD', help: 'what to do about a full window (auto)', words: WORDS.policies },
  config: { value: 'FILE', help: 'milestones, budget, hooks and checkpoints; flags count before it' },
  ...NETWORK_FLAGS,
  'context-limit': { value: 'N', help: 'how many tokens to use of the window' },
  cwd: { value: 'DIR', help: 'where the work is done (here)' },
  worktree: { value: 'DIR', help: 'the worktree of the work, if it has its own' },
  branch: { value: 'NAME', help: 'the branch of the work, if it has its own' },
  'base-branch': { value: 'NAME', help: 'the branch that it began at' },
  resume: { value: 'ID', help: 'begin in this session of the runtime instead of a new one' },
  'session-mode': {
    value: 'WORD',
    help: 'whether a further prompt resumes the runtime’s session (persistent)',
    words: WORDS.sessionModes,
  },
  'session-timeout': { value: 'TIME', help: 'how long after its end that session may be resumed (24h)' },
  ...LOOK_BACK_FLAG,
  'prompt-file': {
    value: 'FILE',
    help: 'the prompt from a file; "-" in place of the prompt reads standard input',
  },
  quiet: { help: 'do not print what the agent says' },
  'no-bell': { help: 'do not ring the bell of the terminal when the run ends or needs you' },
  verbose: { help: 'print the log to standard error: restarts, refusals, outages, unknown figures' },
  messages: { help: 'with --json: also the messages of the runtime, as {"type":"message"}' },
  ...LIMIT_FLAGS,
  ...RUNTIME_FLAGS,
  ...STORE_FLAGS,
} as const satisfies Flags
