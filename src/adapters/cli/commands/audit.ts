import { type AuditVerdict, NOT_COVERED } from '../../../domain/audit/audit-verdict.ts'
import type { AuditEntry } from '../../../domain/audit-event.ts'
import type { HandoffMetadata } from '../../../domain/handoff/handoff.ts'
import { counted } from '../../../domain/kernel/counted.ts'
import { defined } from '../../../domain/kernel/defined.ts'
import type { ConversationId } from '../../../domain/kernel/ids.ts'
import { unwrap } from '../../../domain/unwrap.ts'
import type { Paged } from '../../../ports/store/page.ts'
import type { AuditService } from '../../../services/audit/audit-service.ts'
import type { HandoffHistory } from '../../../services/history/handoff-history.ts'
import { readHandoffs } from '../choose/handoff-filter.ts'
import { openFor } from '../choose/opened-store.ts'
import { conversationOf, namesSubject, subjectIn } from '../choose/subject.ts'
import { UsageError } from '../invocation/command-problems.ts'
import type { Invocation, Run } from '../invocation/invocation.ts'
import type { Output } from '../invocation/output.ts'
import { countedEntries, handoffOf, renderEntry, renderNotCovered, renderVerdict } from '../render/audit-lines.ts'
import { toJson, toJsonLine } from '../render/text.ts'
import { minuteIn, zoneIn } from '../render/times.ts'
import { styleOf } from '../terminal/style.ts'
import { asTheyAre, listCommand } from './noun.ts'

const PAGE = 500

/** Shows what happened in a conversation, entry by entry. */
export const auditTrail: Run = async (invocation) => {
  const subject = subjectIn(invocation, { kinds: ['conversation'] })
  await using opened = await openFor(invocation, { part: 'audit', to: 'read' })
  const { history } = opened
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

const PROGRESS_EVERY = 100

/** Proves that nobody changed the audit log. */
export const auditVerify: Run = async (invocation) => {
  const isAll = invocation.values.all === true
  if (isAll && namesSubject(invocation))
    throw new UsageError('--all verifies every conversation: name none, or leave --all out.')
  const subject = subjectIn(invocation, { kinds: ['conversation'] })
  await using opened = await openFor(invocation, { part: 'audit', to: 'read' })
  const { audit, history } = opened
  if (isAll) return await verifyAll(audit, invocation)
  const id = await conversationOf(history, await subject(history))
  const verdict = unwrap(await audit.verify(id))
  const isJson = invocation.values.json === true
  invocation.out.line(isJson ? toJson(verdict) : renderVerdict(verdict))
  if (!isJson) invocation.out.line(renderNotCovered())
  if (!verdict.intact) throw new Error(`The audit log of conversation ${id} is not what was written.`)
}

const verifyAll = async (audit: AuditService, { out, notes, values }: Invocation): Promise<void> => {
  const broken: AuditVerdict[] = []
  let [conversations, entries] = [0, 0]
  const texts = { compared: 0, erased: 0, unchecked: 0 }
  for await (const verdict of audit.verifyAll()) {
    conversations += 1
    entries += verdict.entries
    for (const part of ['compared', 'erased', 'unchecked'] as const) texts[part] += verdict.texts[part]
    if (!verdict.intact) broken.push(verdict)
    if (!verdict.intact && values.json !== true) out.line(renderVerdict(verdict))
    if (conversations % PROGRESS_EVERY === 0)
      notes.line(`${conversations} conversations, ${countedEntries(entries)} verified`)
  }
  if (values.json === true) out.line(toJson({ conversations, entries, texts, notCovered: NOT_COVERED, broken }))
  else {
    const erased = texts.erased === 0 ? '' : `, ${counted(texts.erased, 'text')} erased on record`
    const found = broken.length === 0 ? 'all intact' : `${broken.length} not intact`
    out.line(`${counted(conversations, 'conversation')}, ${countedEntries(entries)}${erased}: ${found}`)
    out.line(renderNotCovered())
  }
  if (broken.length > 0) throw new Error(`${broken.length} of ${conversations} audit logs are not what was written.`)
}

/** Who handed over to whom, when and why. */
export const auditQuery = listCommand<HandoffMetadata, HandoffMetadata>({
  things: 'handoffs',
  list: (invocation) => {
    const minute = minuteIn(zoneIn(invocation))
    return {
      look: [
        { title: 'WHEN', of: ({ initiatedAt }) => minute(initiatedAt), most: 16, isTime: true, importance: 4 },
        { title: 'WHO', of: ({ sourceAgent, targetAgent }) => `${sourceAgent} → ${targetAgent}`, importance: 5 },
        { title: 'STATUS', of: ({ status }) => status, most: 9, importance: 2, style: ({ status }) => styleOf(status) },
        { title: 'WHY', of: ({ reason }) => reason },
      ],
      read: readHandoffs(invocation),
      rows: asTheyAre,
    }
  },
})
