import { runCli } from '../../src/adapters/cli/tree/run-command.ts'

/** What `baton replay --json` says of one file. */
export interface ReplayJson {
  readonly file: string
  readonly format: string
  readonly turns: number
  readonly peakContext: number | null
  readonly lastContext: number | null
  readonly window: { readonly tokens: number; readonly source: string } | null
  readonly wholeWindow: { readonly tokens: number; readonly source: string } | null
  readonly level: object
  readonly compactions: readonly {
    readonly trigger: string
    readonly preTokens: number | null
    readonly contextBefore: number | null
    readonly contextAfter: number | null
  }[]
  readonly subagentTurns: number
  readonly toolCalls: number
  readonly signals: readonly { readonly milestone: string; readonly turn: number; readonly pressure: number }[]
  readonly thresholds: readonly { readonly at: number; readonly times: number; readonly firstTurn?: number }[]
  readonly damagedLines: number
  readonly imported?: { readonly conversationId: string; readonly turns: number; readonly added: number }
}

/** Runs `baton replay` in this process, without a database in its environment. */
export const baton = async (...args: readonly string[]) => {
  const [out, err]: [string[], string[]] = [[], []]
  const code = await runCli(['replay', ...args], {
    out: { line: (text) => void out.push(text) },
    err: { line: (text) => void err.push(text) },
    version: '0.0.0',
    environment: {},
  })
  return { code, out: out.join('\n'), err: err.join('\n') }
}

/** What `baton replay --json` says of these files. */
export const replayed = async (...args: readonly string[]): Promise<readonly ReplayJson[]> => {
  const { code, out, err } = await baton(...args, '--json')
  if (code !== 0) throw new Error(err)
  return JSON.parse(out) as readonly ReplayJson[]
}
