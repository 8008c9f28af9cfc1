import type { CliCommand } from './command.ts'
import { SHELLS } from './shells.ts'

/** The commands about the command itself. */
export const ABOUT_COMMANDS = {
  completion: {
    summary: 'print a script that completes commands and flags in a shell',
    takes: '[SHELL]',
    words: SHELLS,
    details:
      'For bash: source <(baton completion bash). For zsh: source <(baton completion zsh). For fish: baton completion fish | source.',
    flags: {},
    load: async () => (await import('../commands/completion.ts')).completion,
  },
} as const satisfies Readonly<Record<string, CliCommand>>
