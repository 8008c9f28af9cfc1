import type { WorkingSession } from '../../../domain/session/agent-session.ts'
import type { TurnInput } from '../../../domain/turn/turn.ts'
import { unwrap } from '../../../domain/unwrap.ts'
import { quoted } from '../../../processes/quoted.ts'
import type { HandoffService } from '../../../services/handoff-service.ts'
import { openFor } from '../choose/opened-store.ts'
import type { Invocation, Run } from '../invocation/invocation.ts'
import { renderLineage } from '../render/lineage-tree.ts'
import { toJson } from '../render/text.ts'

const TASK = 'Find out why the login test fails on Mondays, and mend it'

const SCRIPT: readonly TurnInput[] = [
  turn(18_200, 'Start with the failing test.', 'I read the test first.', 'read_file'),
  turn(96_400, 'Go on.', 'It compares dates as local text. I run it with two time zones.', 'run_tests', 'run_tests'),
  turn(
    171_900,
    'Go on.',
    'Confirmed: the clock is read twice across midnight. My window is nearly full.',
    'search_code',
  ),
]

const CHECKPOINT = [
  'Goal: mend the login test.',
  'Done: cause found (the clock is read twice across midnight, in src/login/session.ts).',
  'Remaining: read it once and pass it down; run the suite in two time zones.',
].join('\n')

/** The folder of the demo's own store: what it plays is nobody's work, and belongs into nobody's record. */
const OWN_FOLDER = 'batonpass-demo'

/** Takes a scripted agent through a handoff and shows what was kept. */
export const demo: Run = async (invocation) => {
  const { values, out } = invocation
  const isJson = values.json === true
  const say = (text: string): void => (isJson ? undefined : out.line(text))
  await using opened = await openFor(invocation, { part: 'scripted', to: 'write', ownFolder: OWN_FOLDER })
  const { handoffs, history } = opened.batonpass
  const { conversation } = unwrap(await handoffs.openConversation({ originalTask: TASK }))
  say(`"claude-code" begins: ${TASK}`)
  const started = await handoffs.startSession({
    conversationId: conversation.id,
    agentName: 'claude-code',
    backend: 'scripted',
  })
  const source = await work(handoffs, unwrap(started), say)
  await passOn(handoffs, source, say)
  const lineage = await history.lineage(conversation.id)
  if (lineage === undefined) throw new Error(`Conversation ${conversation.id} was opened and cannot be found`)
  say('\nWhat the record says:')
  out.line(isJson ? toJson(lineage) : renderLineage(lineage, out.columns))
  for (const line of nextCommands(invocation, conversation.id)) say(line)
}

/** Commands to look around with, as they can be typed. An address is not repeated: a password may be in it. */
const nextCommands = ({ values }: Invocation, id: string): readonly string[] => {
  const flag = ['data-dir', 'database-file'].find((name) => typeof values[name] === 'string')
  if (flag === undefined && values.database !== undefined) return []
  const store = `--${flag ?? 'data-dir'} ${quoted(flag === undefined ? OWN_FOLDER : String(values[flag]))}`
  const schema = typeof values.schema === 'string' ? ` --schema ${quoted(values.schema)}` : ''
  const commands = ['conversations list', `messages ${id}`, `audit verify --all`]
  return ['\nLook around:', ...commands.map((command) => `  baton ${command} ${store}${schema}`)]
}

const work = async (handoffs: HandoffService, started: WorkingSession, say: (text: string) => void) => {
  let working = started
  for (const scripted of SCRIPT) {
    const recorded = unwrap(await handoffs.recordTurn({ ...working, ...scripted }))
    const { toolCalls, number } = recorded.turns[0] ?? { toolCalls: [], number: 0 }
    say(`  turn ${number}: ${toolCalls.map(({ toolName }) => toolName).join(', ')}`)
    working = { ...working, ...recorded }
  }
  return working
}

const passOn = async (handoffs: HandoffService, source: WorkingSession, say: (text: string) => void): Promise<void> => {
  const details = { targetAgent: 'opus-agent', reason: 'The window is nearly full', document: CHECKPOINT }
  const { handoff } = unwrap(await handoffs.initiateHandoff({ ...source, ...details }))
  say(`"claude-code" hands over to "opus-agent": ${handoff.reason}`)
  const { handoff: claimed } = unwrap(await handoffs.claimNext({ targetAgent: 'opus-agent', claimant: 'worker-1' }))
  if (claimed === undefined) throw new Error(`Handoff ${handoff.id} was initiated and nobody can claim it`)
  const target = unwrap(await handoffs.completeHandoff({ handoff: claimed, claimant: 'worker-1' }))
  say('"opus-agent" continues in a fresh window')
  const next = turn(
    9_300,
    'Go on.',
    'I read the clock once and pass it down. All green in both zones.',
    'edit_file',
    'run_tests',
  )
  unwrap(await handoffs.recordTurn({ ...target, ...next }))
}

function turn(promptTokens: number, asked: string, answered: string, ...toolNames: readonly string[]): TurnInput {
  const toolCalls = toolNames.map((toolName, index) => ({ callId: `call_${promptTokens}_${index + 1}`, toolName }))
  return {
    messages: [
      { role: 'user', text: asked },
      { role: 'assistant', text: answered, toolCalls },
    ],
    usage: { state: 'metered', promptTokens, outputTokens: 400 },
  }
}
