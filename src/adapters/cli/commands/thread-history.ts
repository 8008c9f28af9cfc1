import { defined } from '../../../domain/kernel/defined.ts'
import { conversationId } from '../../../domain/kernel/ids.ts'
import type { KeptSummary, SummaryFigures, SummaryFilter } from '../../../ports/thread-summaries.ts'
import type { HandoffHistory } from '../../../services/handoff-history.ts'
import type { Invocation, Run } from '../command.ts'
import { idText, moment, parsedFlag, textFlag } from '../history-args.ts'
import { notTogether, printList } from '../list-command.ts'
import { type Column, Table } from '../render-table.ts'
import { toJson } from '../render-text.ts'
import { minute } from '../render-time.ts'
import { writeSpans } from '../style.ts'
import { wholeId } from '../which-id.ts'
import { withHistory } from '../with-history.ts'

/** Lists the summaries that new threads began with, or figures about them. */
export const threadHistory: Run = async (invocation) => {
  const filterIn = filterOf(invocation)
  if (invocation.values.figures === true) return printFigures(invocation, filterIn)
  await printList<KeptSummary>(invocation, {
    things: 'summaries',
    look: [
      { title: 'FROM', of: ({ sourceThreadId }) => sourceThreadId, isId: true },
      { title: 'INTO', of: ({ targetThreadId }) => targetThreadId, isId: true },
      { title: 'ACCEPTED', of: ({ timestamp }) => minute(timestamp), most: 16 },
      { title: 'AGENT', of: ({ agentName }) => agentName, most: 16 },
      { title: 'BY', of: writerOf, most: 18 },
      { title: 'TOKENS', of: ({ tokens }) => String(tokens), most: 6 },
      { title: 'SUMMARY', of: ({ plainText }) => plainText },
    ],
    read: async (history, page) => history.threadSummaries(await filterIn(history), page),
  })
}

const writerOf = ({ modelUsed, isEdited }: KeptSummary): string => (isEdited ? `${modelUsed}, edited` : modelUsed)

const FIGURES: readonly Column<SummaryFigures>[] = [
  { title: 'AGENT', of: ({ agentName }) => agentName },
  { title: 'BY', of: ({ modelUsed }) => modelUsed },
  { title: 'SUMMARIES', of: ({ summaries }) => String(summaries), most: 9 },
  { title: 'EDITED', of: ({ edited }) => String(edited), most: 6 },
  { title: 'REFINED', of: ({ refinements }) => String(refinements), most: 7 },
  { title: 'TOKENS', of: ({ meanTokens }) => String(meanTokens), most: 6 },
  { title: 'LATEST', of: ({ latest }) => minute(latest), most: 16 },
]

const printFigures = async (invocation: Invocation, filterIn: ReturnType<typeof filterOf>): Promise<void> => {
  for (const name of ['limit', 'after', 'all']) notTogether(invocation, 'figures', name)
  await withHistory(invocation, async (history) => {
    const { out, values } = invocation
    const figures = await history.threadFigures(await filterIn(history))
    if (values.json === true) return out.line(toJson(figures))
    if (figures.length === 0) return out.line('No summaries match.')
    const table = new Table(FIGURES, figures, out.columns)
    writeSpans(out, table.header())
    for (const one of figures) writeSpans(out, table.row(one))
  })
}

/** The filter of the flags, once it is known which conversation an id in part means. */
const filterOf = (invocation: Invocation): ((history: HandoffHistory) => Promise<SummaryFilter>) => {
  const from = parsedFlag(invocation, 'from', idText)
  const filter = defined({
    agentName: textFlag(invocation, 'agent'),
    since: parsedFlag(invocation, 'since', moment),
    until: parsedFlag(invocation, 'until', moment),
  })
  return async (history) => {
    const source = from === undefined ? undefined : await wholeId(history, 'conversation', from, conversationId)
    return defined({ ...filter, sourceThreadId: source })
  }
}
