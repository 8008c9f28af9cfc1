import type { Change } from '../../domain/decision.ts'
import { defined } from '../../domain/kernel/defined.ts'
import type { StoredSession } from '../../domain/session/stored-session.ts'
import { frozenCopy } from './frozen-copy.ts'
import type { Undo } from './table.ts'
import type { Tables } from './tables.ts'
import { VersionMoved } from './version-moved.ts'

export const setClosed = (
  tables: Tables,
  { conversationId, closedAt }: Extract<Change, { type: 'set_closed' }>,
): Undo => {
  const stored = tables.conversations.get(conversationId)
  const isOther = stored !== undefined && (stored.closedAt === undefined) === (closedAt !== undefined)
  const isIdle = closedAt === undefined || tables.sessions.at('baton', conversationId) === undefined
  if (!isOther || !isIdle) throw new VersionMoved('the conversation is not what was expected')
  const { closedAt: _, ...rest } = stored
  return tables.conversations.replace(frozenCopy({ ...rest, ...defined({ closedAt }) }))
}

export const keepExtract = (
  tables: Tables,
  { handoffId, extract }: Extract<Change, { type: 'keep_extract' }>,
): Undo => {
  const stored = tables.handoffs.get(handoffId)
  if (stored === undefined || stored.extract !== undefined) throw new VersionMoved('it has an extract')
  return tables.handoffs.replace(frozenCopy({ ...stored, extract }))
}

export const setMetadata = (tables: Tables, change: Extract<Change, { type: 'set_metadata' }>): Undo => {
  const { of, id, metadata } = change
  const noted = <Row extends object>(row: Row | undefined): Row => {
    if (row === undefined) throw new VersionMoved(`there is no ${of} ${id}`)
    const { metadata: _, ...rest } = row as Row & { metadata?: unknown }
    return frozenCopy({ ...rest, ...defined({ metadata }) }) as unknown as Row
  }
  if (of === 'conversation') return tables.conversations.replace(noted(tables.conversations.get(id)))
  if (of === 'handoff') return tables.handoffs.replace(noted(tables.handoffs.get(id)))
  const working = tables.sessions.get(id)
  return tables.sessions.replace(Object.freeze({ ...(working as StoredSession), session: noted(working?.session) }))
}

export const setBudget = (
  tables: Tables,
  { conversationId, restartBudget, asked }: Extract<Change, { type: 'set_budget' }>,
): Undo => {
  const stored = tables.conversations.get(conversationId)
  if (stored === undefined) throw new VersionMoved('there is no such conversation')
  return tables.conversations.replace(frozenCopy({ ...stored, ...defined({ restartBudget, asked }) }))
}
