import { defined } from '../../../domain/kernel/defined.ts'
import type { KeptSummary, SummaryFigures, SummaryFilter } from '../../../ports/store/thread-summaries.ts'
import type { HandoffHistory } from '../../../services/history/handoff-history.ts'
import { momentFlag, notTogether, parsedFlag, textFlag } from '../choose/flag-values.ts'
import { openFor } from '../choose/opened-store.ts'
import { conversationFlag } from '../choose/subject.ts'
import type { Invocation, Run } from '../invocation/invocation.ts'
import { toJson } from '../render/text.ts'
import { type Column, TextTable } from '../render/text-table.ts'
import { minuteIn, zoneIn, zoneSentence } from '../render/times.ts'
import { writeSpans } from '../terminal/style.ts'
import { asTheyAre, printList } from './noun.ts'

/** Lists the summaries that new threads began with, or figures about them. */
export const threadHistory: Run = async (invocation) => {
  const filterIn = filterOf(invocation)
  if (invocation.values.figures === true) return printFigures(invocation, filterIn)
  const minute = minuteIn(zoneIn(invocation))
  await printList<KeptSummary, KeptSummary>(invocation, 'summaries', {
    look: [
      { title: 'FROM', of: ({ sourceThreadId }) => sourceThreadId, isId: true, importance: 6 },
      { title: 'INTO', of: ({ targetThreadId }) => targetThreadId, isId: true },
      { title: 'ACCEPTED', of: ({ timestamp }) => minute(timestamp), most: 16, isTime: true, importance: 4 },
      { title: 'AGENT', of: ({ agentName }) => agentName, most: 16, importance: 3 },
      { title: 'BY', of: writerOf, most: 18, importance: 2 },
      { title: 'TOKENS', of: ({ tokens }) => String(tokens), most: 6, importance: 1 },
      { title: 'SUMMARY', of: ({ plainText }) => plainText },
    ],
    read: async (history, page) => history.threadSummaries(await filterIn(history), page),
    rows: asTheyAre,
  })
}

const writerOf = ({ modelUsed, isEdited }: KeptSummary): string => (isEdited ? `${modelUsed}, edited` : modelUsed)

const figuresIn = (zone: string): readonly Column<SummaryFigures>[] => [
  { title: 'AGENT', of: ({ agentName }) => agentName },
  { title: 'BY', of: ({ modelUsed }) => modelUsed },
  { title: 'SUMMARIES', of: ({ summaries }) => String(summaries), most: 9 },
  { title: 'EDITED', of: ({ edited }) => String(edited), most: 6 },
  { title: 'REFINED', of: ({ refinements }) => String(refinements), most: 7 },
  { title: 'TOKENS', of: ({ meanTokens }) => String(meanTokens), most: 6 },
  { title: 'LATEST', of: ({ latest }) => minuteIn(zone)(latest), most: 16, importance: 1 },
]

const printFigures = async (invocation: Invocation, filterIn: ReturnType<typeof filterOf>): Promise<void> => {
  for (const name of ['limit', 'after', 'all']) notTogether(invocation, 'figures', name)
  await using opened = await openFor(invocation, { part: 'history', to: 'read' })
  const { history } = opened
  const { out, values } = invocation
  const figures = await history.threadFigures(await filterIn(history))
  if (values.json === true) return out.line(toJson(figures))
  if (figures.length === 0) return out.line('No summaries match.')
  const zone = zoneIn(invocation)
  const table = new TextTable(figuresIn(zone), figures, out.columns)
  writeSpans(out, table.header())
  for (const one of figures) writeSpans(out, table.row(one))
  out.line(zoneSentence(zone))
}

/** The filter of the flags, once it is known which conversation is meant. */
const filterOf = (invocation: Invocation): ((history: HandoffHistory) => Promise<SummaryFilter>) => {
  const from = conversationFlag(invocation, 'from')
  const at = (text: string) => momentFlag(text, zoneIn(invocation))
  const filter = defined({
    agentName: textFlag(invocation, 'agent'),
    since: parsedFlag(invocation, 'since', at),
    until: parsedFlag(invocation, 'until', at),
  })
  return async (history) => defined({ ...filter, sourceThreadId: await from(history) })
}
