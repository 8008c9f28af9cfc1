import type { CliCommand } from '../command.ts'
import { PAGE_FLAGS } from './list-flags.ts'
import { STORE_FLAGS } from './store-flags.ts'

/** The commands about threads that continue others. */
export const THREAD_COMMANDS = {
  'thread history': {
    summary: 'list the summaries that new threads began with, newest first',
    details:
      'Every flag narrows the list down further. With --figures: how many there are by agent and model, counted over the newest 10,000 that match.',
    flags: {
      agent: { value: 'NAME', help: 'summaries of threads of this agent' },
      from: { value: 'THREAD', help: 'summaries of this conversation, by its id' },
      since: { value: 'TIME', help: 'accepted then or later, such as 2026-11-16 or 2026-11-16T03:45Z' },
      until: { value: 'TIME', help: 'accepted before then' },
      figures: { help: 'figures instead of the list' },
      ...PAGE_FLAGS,
      ...STORE_FLAGS,
    },
    load: async () => (await import('../commands/thread-history.ts')).threadHistory,
  },
} as const satisfies Readonly<Record<string, CliCommand>>
