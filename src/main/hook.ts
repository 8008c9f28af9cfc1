import { runTerminalHook as run } from '../adapters/hook-client/run-hook.ts'
import { TERMINAL_AGENTS } from './runtimes.ts'

/** Runs one hook of a terminal agent. The build puts this and what it loads into one file. */
export const runHook = (args: readonly string[]): Promise<void> => run(args, TERMINAL_AGENTS)
