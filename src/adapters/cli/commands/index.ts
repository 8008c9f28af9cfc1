import type { CliCommand } from '../command.ts'
import { auditQuery } from './audit-query.ts'
import { auditTrail } from './audit-trail.ts'
import { auditVerify } from './audit-verify.ts'
import { configCheck } from './config-check.ts'
import { conversationsList, conversationsShow } from './conversations.ts'
import { demo } from './demo.ts'
import { handoffsList, handoffsShow } from './handoffs.ts'
import { lineage } from './lineage.ts'
import { migrateDown, migrateSql, migrateStatus, migrateUp } from './migrate.ts'
import { pruneCommand } from './prune.ts'
import { recoverCommand } from './recover.ts'
import { replayCommand } from './replay.ts'
import { runCommand } from './run.ts'
import { sessionsList, sessionsShow } from './sessions.ts'
import { sessionsWindow } from './sessions-window.ts'

/** Every command by its words, in the order help lists them. */
export const COMMANDS: Readonly<Record<string, CliCommand>> = {
  demo,
  run: runCommand,
  recover: recoverCommand,
  'migrate up': migrateUp,
  'migrate down': migrateDown,
  'migrate status': migrateStatus,
  'migrate sql': migrateSql,
  prune: pruneCommand,
  'config check': configCheck,
  'audit trail': auditTrail,
  'audit verify': auditVerify,
  'audit query': auditQuery,
  'conversations list': conversationsList,
  'conversations show': conversationsShow,
  'sessions list': sessionsList,
  'sessions show': sessionsShow,
  'sessions window': sessionsWindow,
  'handoffs list': handoffsList,
  'handoffs show': handoffsShow,
  lineage,
  replay: replayCommand,
}
