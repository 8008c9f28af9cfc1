import {
  type Batonpass,
  type ContextSignal,
  type CreateOptions,
  commandId,
  createBatonpass,
  DEFAULT_MILESTONES,
  type Logger,
  type MessageInput,
  type Milestone,
  type Recovered,
  type RestartBudget,
  readConfiguration,
  type UsageReading,
  unwrap,
  type WorkingSession,
  withholdTexts,
} from '../../src/entry/index.ts'
import { follow, requestFor } from './agent.ts'
import { explained, kinds, line, page, settled } from './answers.ts'
import { read, save } from './saved.ts'

// Milestones and budget as this program wants them; the rest has defaults.
const milestones: readonly Milestone[] = DEFAULT_MILESTONES.filter(({ name }) => name !== 'warning')
const restartBudget: RestartBudget = { maxRestarts: 1, whenExhausted: 'stop' }
const ignore = (): void => {}
const logger: Logger = { debug: ignore, info: ignore, warn: console.warn, error: console.error }
const options: CreateOptions = { store: 'memory', monitor: { milestones }, restartBudget, logger }
await using batonpass: Batonpass = await createBatonpass(options)
const { handoffs, history, context } = batonpass

// A job, and the working session that this process keeps and passes back.
const job = { originalTask: 'Mend the login test', commandId: commandId(crypto.randomUUID()) }
const { conversation } = unwrap(await handoffs.openConversation(job))
const agent = { conversationId: conversation.id, agentName: 'claude-code', backend: 'scripted' }
let working: WorkingSession = unwrap(await handoffs.startSession(agent))
console.log(settled(await handoffs.startSession(agent))) // somebody has the baton

const usage: UsageReading = { state: 'metered', promptTokens: 1_200, outputTokens: 80 }
const messages: readonly MessageInput[] = [
  { role: 'user', text: 'Begin.' },
  { role: 'assistant', text: 'It fails on Mondays.', toolCalls: [{ callId: 'call-1', toolName: 'run_tests' }] },
]
const recorded = unwrap(await handoffs.recordTurn({ ...working, messages, usage }))
working = { ...working, ...recorded }
const [turn] = recorded.turns
if (turn !== undefined) console.log(line(turn, await history.latestSnapshot(working.session.id)))
const told: readonly ContextSignal[] = await context.waiting(working.session.id)
console.log(`${told.length} signals wait`)

// The process ends here, and another one continues from what was saved.
const saved = read(save(working, turn && { lastTurn: turn.id }))
const request = { session: saved.session, holder: saved.holder, targetAgent: 'opus', reason: 'Out of ideas' }
const { handoff } = unwrap(
  await handoffs.initiateHandoff({ ...request, ...(saved.lastTurn && { priorTurn: saved.lastTurn }) }),
)
const next = unwrap(await handoffs.completeHandoff({ handoff }))
console.log(read(save(next, { handoff: handoff.id })).handoff === handoff.id)

const lineage = await history.lineage(conversation.id)
for (const text of lineage === undefined ? [] : page(lineage)) console.log(text)
console.log(kinds((await history.auditTrail(conversation.id, { limit: 2 })).items))
console.log(withholdTexts({ code: 'session.no_turns', text: 'said by a person' }))

// Or let the runner do all of it.
console.log((await follow(batonpass.run(requestFor('Greet')))).outcome)
const recovered: readonly Recovered[] = await batonpass.recover()
console.log(`${recovered.length} recovered`)
await readConfiguration({ restart: { polcy: 'auto' } }).catch((problem: unknown) => console.log(explained(problem)))
