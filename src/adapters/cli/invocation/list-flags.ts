import { WORDS } from './flag-words.ts'
import type { Flags } from './invocation.ts'
import { STORE_FLAGS } from './store-flags.ts'

const group = 'Pages:'

/** The flags that choose a page of a list. */
export const PAGE_FLAGS = {
  limit: { value: 'N', help: 'how many at most, 1 to 1000 (20)', group },
  after: { value: 'CURSOR', help: 'continue where an earlier page ended', group },
  all: { help: 'all of them, page after page', group },
} as const satisfies Flags

/** The flags every list takes. */
export const LIST_FLAGS = {
  oldest: { help: 'oldest first' },
  newest: { help: 'newest first, as without it' },
  ...PAGE_FLAGS,
  ...STORE_FLAGS,
} as const satisfies Flags

/** The flags that narrow handoffs down. */
export const HANDOFF_LIST_FLAGS = {
  agent: { value: 'NAME', help: 'the agent on either side' },
  source: { value: 'NAME', help: 'the agent that hands over' },
  target: { value: 'NAME', help: 'the agent that takes over' },
  kind: { value: 'KIND', help: 'the kind of handoff', words: WORDS.kinds },
  status: { value: 'STATUS', help: 'the status of the handoff', words: WORDS.statuses },
  reason: { value: 'WORDS', help: 'every one of these words is in the reason, in upper or lower case' },
  since: {
    value: 'TIME',
    help: 'initiated then or later, such as 2026-11-16 or 2026-11-16T03:45; local time unless it ends in a zone',
  },
  until: { value: 'TIME', help: 'initiated before then' },
  conversation: { value: 'WHICH', help: 'the handoffs of one conversation, named in any way' },
  open: { help: 'handoffs that have not ended' },
  overdue: { help: 'open handoffs whose claim has expired' },
  'unclaimed-for': {
    value: 'TIME',
    help: 'with --overdue: also those that nobody has claimed for this time, such as 10m',
  },
  ...LIST_FLAGS,
} as const satisfies Flags
