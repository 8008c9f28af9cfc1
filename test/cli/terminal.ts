import { runCli } from '../../src/adapters/cli/tree/run-command.ts'
import { createBatonpass, type HandoffMetadata, unwrap } from '../../src/entry/index.ts'
import type { TurnInput } from '../../src/entry/ports.ts'
import { CountingIds, FixedClock } from '../../src/entry/testing.ts'
import { cloneDatabase, withDatabase } from '../support/test-databases.ts'

/** What a command said, and how it ended. */
export interface Said {
  readonly code: number
  readonly out: string
  readonly err: string
}

/** What a command said but for the line that names its store, which has a test of its own. */
export const withoutStore = (err: string): string => err.replace(/(?:^|\n)Store: .*/g, '').replace(/^\n/, '')

/** Runs `baton` in this process against a database. */
export const batonOn =
  (database: string, columns?: number) =>
  async (...args: readonly string[]): Promise<Said> => {
    const said = await batonWith({ BATONPASS_DATABASE_URL: database }, columns)(...args)
    return { ...said, err: withoutStore(said.err) }
  }

/** Runs `baton` in this process with such an environment, on lines of this width. */
export const batonWith =
  (environment: Readonly<Record<string, string | undefined>>, columns?: number) =>
  async (...args: readonly string[]): Promise<Said> => {
    const [out, err]: [string[], string[]] = [[], []]
    const terminal = {
      out: { line: (text: string) => void out.push(text), columns },
      err: { line: (text: string) => void err.push(text) },
      version: '0.0.0',
      environment,
    }
    const code = await runCli(args, terminal)
    return { code, out: out.join('\n'), err: err.join('\n') }
  }

/** What an agent may write to mislead whoever reads it: colours, a window title, a new line, text turned around. */
export const NASTY =
  'red \u001b[31malert\u001b[0m \u001b]0;title\u0007 \u009b2J \u202egnp.exe\u2066 \u0000nul \u007f\r\nEND'

const turn = (callId: string, text: string): TurnInput => ({
  messages: [
    { role: 'user', text: 'Go on' },
    { role: 'assistant', text, toolCalls: [{ callId, toolName: 'run_tests' }] },
  ],
  usage: { state: 'metered', promptTokens: 18_200, outputTokens: 400 },
})

/** A database with a little history in it: a transfer, a thread out of it, and a handoff nobody claimed. */
export const historyInDatabase = async () => {
  const database = withDatabase(process.env.TEST_DATABASE_URL ?? '', await cloneDatabase())
  const clock = new FixedClock('2026-11-16T03:45:00Z')
  await using batonpass = await createBatonpass({ database, clock, ids: new CountingIds(7) })
  const { handoffs } = batonpass
  const opening = { originalTask: 'Find out why the login test fails on Mondays, and mend it', subject: 'tenant-7' }
  const { conversation } = unwrap(await handoffs.openConversation({ ...opening, externalKey: 'issue-7' }))
  const agent = { agentName: 'claude-code', backend: 'scripted' }
  const started = unwrap(await handoffs.startSession({ conversationId: conversation.id, ...agent }))
  const worked = unwrap(await handoffs.recordTurn({ ...started, ...turn('call_1', 'It compares dates.') }))
  const request = { targetAgent: 'opus-agent', reason: 'The window is nearly full', document: 'Goal: mend it.' }
  const first = unwrap(await handoffs.initiateHandoff({ ...worked, ...request })).handoff
  clock.advance(60_000)
  const target = unwrap(await handoffs.completeHandoff({ handoff: first, claimant: 'worker-1' }))
  const next = unwrap(await handoffs.recordTurn({ ...target, ...turn('call_2', 'Mended.') }))
  const thread = unwrap(
    await handoffs.openThread({ ...next, targetAgent: 'helper', reason: 'Is the clock right?', child: {} }),
  )
  clock.advance(60_000)
  const waiting = unwrap(
    await handoffs.initiateHandoff({ ...next, targetAgent: `evil\u001b[2J${'x'.repeat(80)}`, reason: NASTY }),
  ).handoff
  const completed = target.handoff satisfies HandoffMetadata
  return { database, conversation, source: worked, target: next, thread, first: completed, waiting }
}
