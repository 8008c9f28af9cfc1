import { type AuditVerdict, NOT_COVERED } from '../../../domain/audit/audit-verdict.ts'
import { counted } from '../../../domain/kernel/counted.ts'
import { unwrap } from '../../../domain/unwrap.ts'
import { createBatonpass } from '../../../main/batonpass.ts'
import type { AuditService } from '../../../services/audit/audit-service.ts'
import { storeToRead } from '../choose/store-options.ts'
import { conversationOf, namesSubject, subjectIn } from '../choose/subject.ts'
import { countedEntries, renderNotCovered, renderVerdict } from '../render/render-audit.ts'
import { toJson } from '../render/render-text.ts'
import type { Invocation, Run } from '../tree/command.ts'
import { UsageError } from '../tree/problems.ts'

const PROGRESS_EVERY = 100

/** Proves that nobody changed the audit log. */
export const auditVerify: Run = async (invocation) => {
  const isAll = invocation.values.all === true
  if (isAll && namesSubject(invocation))
    throw new UsageError('--all verifies every conversation: name none, or leave --all out.')
  const subject = subjectIn(invocation, { kinds: ['conversation'] })
  await using batonpass = await createBatonpass(storeToRead(invocation))
  const { audit, history } = batonpass
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
