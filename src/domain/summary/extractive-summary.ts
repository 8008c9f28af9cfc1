import { TEXT_ERASED } from '../kernel/texts.ts'
import { shorter, WITHOUT_A_MODEL } from './summary-budget.ts'
import { markdownOf, NOT_STATED, type SummarySection } from './summary-parts.ts'
import type { SummaryMessage, SummarySource } from './summary-source.ts'
import { isFailing, oneLine, type StatementKind, statementsIn } from './summary-statements.ts'
import { EXTRACTIVE, SUMMARY_PARTS, type SummaryPart, type WrittenSummary } from './thread-summary.ts'

/** How long a quotation may be: of the task, and of anything else. */
const LONGEST_TASK = 320
const LONGEST_QUOTE = 200

/** How many of each are quoted. A budget cuts further. */
const MOST = { words: 3, statements: 3, subagents: 3, tools: 6, files: 8 } as const

/** A shell command, by the words in the name of its tool. */
const RUNS_COMMANDS = /bash|shell|exec|command|terminal/i

/**
 * Summarises a conversation without a model: quotes the task, the person's own words and what the agent said last, and
 * counts the tools it used. It claims nothing that is not on record, and says that no model wrote it.
 */
export const extractiveSummary = (source: SummarySource): WrittenSummary => {
  const messages = source.messages.filter(({ text }) => text !== TEXT_ERASED)
  const lines: Readonly<Record<SummaryPart, readonly string[]>> = {
    Objective: [quoted(source.task, LONGEST_TASK), ...personWords(messages, source.task)],
    Progress: progressOf(source, messages),
    'Next Steps': nextSteps(source, messages),
    Blockers: blockersIn(messages),
    'Key files': source.files.slice(0, MOST.files).map((file) => `- ${oneLine(file)}`),
  }
  const nothing: Partial<Record<SummaryPart, string>> = { Blockers: 'None stated.', 'Key files': 'None on record.' }
  const sections = SUMMARY_PARTS.map(
    (title): SummarySection => ({
      title,
      lines: lines[title].length > 0 ? lines[title] : [nothing[title] ?? NOT_STATED],
    }),
  )
  return { text: `${WITHOUT_A_MODEL}.\n\n${markdownOf(sections)}`, modelUsed: EXTRACTIVE }
}

/** The words of others between quotation marks that they cannot end. */
const quoted = (text: string, most: number = LONGEST_QUOTE): string =>
  `"${shorter(oneLine(text).replaceAll('"', "'"), most - 2)}"`

/** The latest of what the person said beside the task, the latest first. */
const personWords = (messages: readonly SummaryMessage[], task: string): readonly string[] => {
  const spoken = messages.filter(({ isPerson, text }) => isPerson && text.trim() !== '' && text.trim() !== task.trim())
  const latest = unanswered(messages)
  const words = spoken.filter((message) => message !== latest).toReversed()
  return words.slice(0, MOST.words).map(({ text }) => `- The person also said: ${quoted(text)}`)
}

/** A message of the person that no answer came after. */
const unanswered = (messages: readonly SummaryMessage[]): SummaryMessage | undefined => {
  const last = messages.findLast(({ isPerson, role, text }) => isPerson || (role === 'assistant' && text.trim() !== ''))
  return last?.isPerson ? last : undefined
}

const progressOf = (source: SummarySource, messages: readonly SummaryMessage[]): readonly string[] => {
  const [last, ...before] = latestTexts(messages)
    .map((text) => saidIn(text, 'done'))
    .filter((statements) => statements.length > 0)
    .map((statements) => quoted(statements.slice(0, 3).join(' ')))
  const older = source.leftOut === 1 ? '1 older message is' : `${source.leftOut} older messages are`
  return [
    ...(last === undefined ? [] : [`- The agent said last: ${last}`]),
    ...toolsUsed(messages),
    ...source.subagents
      .slice(-MOST.subagents)
      .toReversed()
      .map((outcome) => `- A subagent reported: ${quoted(outcome)}`),
    ...before.map((statement) => `- Before that: ${statement}`),
    ...(source.leftOut > 0 ? [`- ${older} not in this.`] : []),
  ]
}

/** The latest texts of the agent, the latest first. */
const latestTexts = (messages: readonly SummaryMessage[]): readonly string[] =>
  messages
    .filter(({ role, text }) => role === 'assistant' && text.trim() !== '')
    .slice(-MOST.statements)
    .toReversed()
    .map(({ text }) => text)

const saidIn = (text: string, kind: StatementKind): readonly string[] =>
  statementsIn(text)
    .filter((statement) => statement.kind === kind)
    .map((statement) => statement.text)

const toolsUsed = (messages: readonly SummaryMessage[]): readonly string[] => {
  const calls = messages.flatMap(({ toolCalls }) => toolCalls)
  const counts = new Map<string, number>()
  for (const { toolName } of calls) counts.set(toolName, (counts.get(toolName) ?? 0) + 1)
  const most = [...counts].sort(([, one], [, other]) => other - one).slice(0, MOST.tools)
  if (most.length === 0) return []
  const used = most.map(([name, count]) => `${shorter(oneLine(name), 60)} ${count === 1 ? 'once' : `${count} times`}`)
  const command = calls.findLast(({ toolName, argument = '' }) => RUNS_COMMANDS.test(toolName) && argument !== '')
  const ran = command?.argument === undefined ? '' : `; the last command was ${quoted(command.argument, 120)}`
  return [`- Tools used: ${used.join(', ')}${ran}`]
}

const nextSteps = ({ refine }: SummarySource, messages: readonly SummaryMessage[]): readonly string[] => {
  const open = unanswered(messages)
  const [latest = ''] = latestTexts(messages)
  return [
    ...(refine === undefined ? [] : [`- The person said about this summary: ${quoted(refine.feedback)}`]),
    ...(open === undefined ? [] : [`- The person said last: ${quoted(open.text)}`]),
    ...saidIn(latest, 'next')
      .slice(0, MOST.statements)
      .map((step) => `- The agent said: ${quoted(step)}`),
  ]
}

/** Only what was said last: an earlier failure is mostly mended by then. */
const blockersIn = (messages: readonly SummaryMessage[]): readonly string[] => {
  const [latest = ''] = latestTexts(messages)
  const after = messages.slice(
    messages.findLastIndex(({ role, text }) => role === 'assistant' && text.trim() !== '') + 1,
  )
  const answered = after.findLast(({ role }) => role === 'tool')?.text ?? ''
  const failing = answered.slice(-5_000).split('\n').map(oneLine).filter(isFailing).slice(-2)
  return [
    ...saidIn(latest, 'blocker')
      .slice(0, MOST.statements)
      .map((statement) => `- The agent said: ${quoted(statement)}`),
    ...failing.map((line) => `- A tool answered: ${quoted(line)}`),
  ]
}
