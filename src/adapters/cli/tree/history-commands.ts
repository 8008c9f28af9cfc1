import { WORDS } from '../invocation/flag-words.ts'
import type { CliCommand } from '../invocation/invocation.ts'
import { HANDOFF_LIST_FLAGS, LIST_FLAGS, PAGE_FLAGS } from '../invocation/list-flags.ts'
import { KEY_FLAG, STORE_FLAGS } from '../invocation/store-flags.ts'

const WHICH =
  'WHICH is a key, an id or its last 6 characters, "last", or the beginning of a title. Without it, the latest conversation of this folder.'

const NARROWING = 'Every flag narrows the list down further.'

/** The commands that read the record. */
export const HISTORY_COMMANDS = {
  report: {
    summary: 'tell what every job did since yesterday evening, how it stands, and what waits for whom',
    details: [
      'Every job in which a session began or ended since then, or that has not ended, the latest first: its title, folder, agents, windows, cost, what waits for whom, and what failed and why; then sums by day and by folder. Threads count with the job they belong to. Changes nothing.',
      'A job is running, waiting for somebody, orphaned (its process is gone), open (it has not ended, and nothing says whether somebody works on it), finished or failed.',
      '"baton" alone on a terminal shows the beginning of it.',
      'Exit status 0, also when nothing happened or one of several stores could not be asked; 1 when none could.',
    ].join('\n'),
    flags: {
      since: {
        value: 'TIME',
        help: 'since then: yesterday, today, 24h, 7d, 2026-11-16, 2026-11-16T03:45Z (yesterday at 18:00)',
      },
      'all-stores': {
        help: 'ask every store that you have opened, all at once; one that cannot be asked is named, with the reason',
      },
      markdown: { help: 'print Markdown, for a message to a colleague' },
      ...PAGE_FLAGS,
      limit: { ...PAGE_FLAGS.limit, help: 'how many jobs of a store at most, 1 to 1000 (50)' },
      ...STORE_FLAGS,
    },
    load: async () => (await import('../commands/report.ts')).reportCommand,
  },
  'audit trail': {
    summary: 'show what happened in a conversation, in order',
    takes: '[WHICH]',
    details: WHICH,
    flags: { ...KEY_FLAG, ...STORE_FLAGS },
    load: async () => (await import('../commands/audit.ts')).auditTrail,
  },
  'audit verify': {
    summary: 'prove that nobody changed the audit log',
    takes: '[WHICH]',
    details: [
      WHICH,
      'Finds the first entry that was modified, removed, moved or forged, and every stored row that differs from the log. With --all also ids that two conversations share.',
      'Exit status 0 when everything is as it was written, 1 when something differs. A list below says what the verdict does not cover.',
    ].join('\n'),
    flags: { all: { help: 'every conversation there is' }, ...KEY_FLAG, ...STORE_FLAGS },
    load: async () => (await import('../commands/audit.ts')).auditVerify,
  },
  'audit query': {
    summary: 'ask who handed over to whom, when and why, in any conversation',
    details: `"baton handoffs list" takes the same flags and shows the ids; so does --json. ${NARROWING}`,
    flags: HANDOFF_LIST_FLAGS,
    load: async () => (await import('../commands/audit.ts')).auditQuery,
  },
  'conversations list': {
    summary: 'list conversations, newest first',
    flags: {
      subject: { value: 'NAME', help: 'the conversations that hold the data of this person or tenant' },
      roots: { help: 'the conversations without a parent' },
      ...LIST_FLAGS,
    },
    load: async () => (await import('../commands/conversations.ts')).conversationsList,
  },
  'conversations show': {
    summary: 'show one conversation',
    takes: '[WHICH]',
    details: WHICH,
    flags: { ...KEY_FLAG, ...STORE_FLAGS },
    load: async () => (await import('../commands/conversations.ts')).conversationsShow,
  },
  'sessions list': {
    summary: 'list sessions by agent and state',
    flags: {
      agent: { value: 'NAME', help: 'the sessions of one agent' },
      state: { value: 'STATE', help: 'the sessions in this state', words: WORDS.states },
      conversation: { value: 'WHICH', help: 'the sessions of one conversation, named in any way' },
      ...LIST_FLAGS,
    },
    load: async () => (await import('../commands/sessions.ts')).sessionsList,
  },
  'sessions show': {
    summary: 'show one session and what its window holds',
    takes: '[WHICH]',
    details: `${WHICH} Of a conversation its newest session is shown.`,
    flags: { key: { value: 'KEY', help: 'the newest session of the conversation with this key' }, ...STORE_FLAGS },
    load: async () => (await import('../commands/sessions.ts')).sessionsShow,
  },
  'sessions window': {
    summary: 'show what the window held right after a turn',
    takes: '[WHICH]',
    details: `Counted from the record, for that session alone. ${WHICH} Of a conversation or a session its last turn is shown.`,
    flags: { ...KEY_FLAG, ...STORE_FLAGS },
    load: async () => (await import('../commands/sessions.ts')).sessionsWindow,
  },
  'handoffs list': {
    summary: 'list handoffs by agent, kind, status, reason and time',
    details: NARROWING,
    flags: HANDOFF_LIST_FLAGS,
    load: async () => (await import('../commands/handoffs.ts')).handoffsList,
  },
  'handoffs show': {
    summary: 'show one handoff: who, when, why, and what led to it',
    takes: '[WHICH]',
    details: `${WHICH} Of a conversation its newest handoff is shown.`,
    flags: { key: { value: 'KEY', help: 'the newest handoff of the conversation with this key' }, ...STORE_FLAGS },
    load: async () => (await import('../commands/handoffs.ts')).handoffsShow,
  },
  messages: {
    summary: 'show what was said in a conversation or a session, word for word',
    takes: '[WHICH]',
    details: `A conversation, or a session of it. ${WHICH}`,
    flags: { ...KEY_FLAG, ...PAGE_FLAGS, ...STORE_FLAGS },
    load: async () => (await import('../commands/messages.ts')).messages,
  },
  turns: {
    summary: 'list the turns of a conversation or a session, with their tool calls',
    takes: '[WHICH]',
    details: `A conversation, or a session of it. ${WHICH}`,
    flags: { ...KEY_FLAG, ...PAGE_FLAGS, ...STORE_FLAGS },
    load: async () => (await import('../commands/turns.ts')).turns,
  },
  'look-back': {
    summary: 'look up what earlier windows said and did, as an agent can',
    takes: '[WHICH]',
    details: [
      `A conversation, or a session of it; and one question. ${WHICH}`,
      'A person who looks is not put on record.',
      'With --asked: what sessions asked themselves, and after which handoff. A checkpoint that is asked about a lot was too thin.',
    ].join('\n'),
    flags: {
      call: { value: 'ID', help: 'a tool call and its result, by its id or its citation [call:…]' },
      turn: { value: 'N.N', help: 'all that a turn said, such as 2.14: window 2, turn 14 (turn 0 is the opening)' },
      file: { value: 'NAME', help: 'tool calls and results that name this file, newest first' },
      words: { value: 'WORDS', help: 'messages with all these words in them, newest first' },
      asked: { help: 'list what sessions asked' },
      limit: { value: 'N', help: 'how many characters at most, 1000 to 20000 (8000)' },
      after: { value: 'CURSOR', help: 'continue where an earlier answer ended' },
      ...KEY_FLAG,
      ...STORE_FLAGS,
    },
    load: async () => (await import('../commands/look-back.ts')).lookBack,
  },
  search: {
    summary: 'find words in everything that was said, in any conversation',
    takes: '[WORDS...]',
    details: [
      'Messages and tool calls in which all these words occur, wherever they stand, in upper or lower case. The conversation that was opened last comes first, and in each the newest message.',
      'A page ends after 100 looks into conversations at the latest, and says how to continue. "baton look-back" asks one conversation.',
    ].join('\n'),
    flags: { ...PAGE_FLAGS, ...STORE_FLAGS },
    load: async () => (await import('../commands/messages.ts')).search,
  },
  lineage: {
    summary: 'show where a conversation came from and what happened to it',
    takes: '[WHICH]',
    details: `A conversation, or any session or handoff of it. ${WHICH}`,
    flags: { ...KEY_FLAG, ...STORE_FLAGS },
    load: async () => (await import('../commands/conversations.ts')).lineage,
  },
} as const satisfies Readonly<Record<string, CliCommand>>
