import type { AuditEntry } from '../../../domain/audit-event.ts'
import type { HandoffMetadata } from '../../../domain/handoff/handoff.ts'
import { defined } from '../../../domain/kernel/defined.ts'
import type { ConversationId } from '../../../domain/kernel/ids.ts'
import { createBatonpass } from '../../../main/batonpass.ts'
import type { Paged } from '../../../ports/store/page.ts'
import type { HandoffHistory } from '../../../services/history/handoff-history.ts'
import { storeToRead } from '../choose/store-options.ts'
import { conversationOf, subjectIn } from '../choose/subject.ts'
import { handoffOf, renderEntry } from '../render/render-audit.ts'
import { toJsonLine } from '../render/render-text.ts'
import type { Output, Run } from '../tree/command.ts'

const PAGE = 500

/** Shows what happened in a conversation, entry by entry. */
export const auditTrail: Run = async (invocation) => {
  const subject = subjectIn(invocation, { kinds: ['conversation'] })
  await using batonpass = await createBatonpass(storeToRead(invocation))
  const { history } = batonpass
  const id = await conversationOf(history, await subject(history))
  const { values, out } = invocation
  await (values.json === true ? showJson(history, id, out) : showLines(history, id, out))
}

async function* entriesOf(history: HandoffHistory, id: ConversationId): AsyncGenerator<AuditEntry> {
  let page: Paged<AuditEntry> | undefined
  do {
    page = await history.auditTrail(id, defined({ after: page?.next, limit: PAGE }))
    yield* page.items
  } while (page.next !== undefined)
}

/** One array, an entry a line, written as it is read: a long trail need not fit into memory. */
const showJson = async (history: HandoffHistory, id: ConversationId, out: Output): Promise<void> => {
  let before: string | undefined
  out.line('[')
  for await (const entry of entriesOf(history, id)) {
    if (before !== undefined) out.line(`${before},`)
    before = `  ${toJsonLine(entry)}`
  }
  if (before !== undefined) out.line(before)
  out.line(']')
}

const showLines = async (history: HandoffHistory, id: ConversationId, out: Output): Promise<void> => {
  const agents = new Map<string, string>()
  const handoffs = new Map<string, HandoffMetadata | undefined>()
  for await (const entry of entriesOf(history, id)) {
    const about = handoffOf(entry.event)
    if (about !== undefined && !handoffs.has(about)) handoffs.set(about, await history.handoff(about))
    const handoff = about === undefined ? undefined : handoffs.get(about)
    out.line(renderEntry(entry, { agents, ...defined({ handoff }) }))
  }
}
