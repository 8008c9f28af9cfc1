export { functionRuntime } from '../adapters/runtime/function-runtime.ts'
export type { AuditEntry } from '../domain/audit-event.ts'
export type { RestartBudget } from '../domain/budget/restart-budget.ts'
export { type Conversation, taskOf } from '../domain/conversation/conversation.ts'
export { type HandoffMetadata, isOpen } from '../domain/handoff/handoff.ts'
export type { Lineage, LineageBranch } from '../domain/history/lineage.ts'
export { lookBackText } from '../domain/history/look-back-text.ts'
export {
  type AgentSessionId,
  agentSessionId,
  type ConversationId,
  commandId,
  conversationId,
  type HandoffId,
  type HolderToken,
  handoffId,
  holderToken,
  type TurnId,
  turnId,
} from '../domain/kernel/ids.ts'
export { instant } from '../domain/kernel/instant.ts'
export type { Result } from '../domain/kernel/result.ts'
export { withholdTexts } from '../domain/kernel/texts.ts'
export { describeRefusal, type Refusal, type RefusalCode } from '../domain/refusal.ts'
export { ConfigurationError } from '../domain/run/run-configuration.ts'
export type { RunEvent } from '../domain/run/run-event.ts'
export type { RunSummary } from '../domain/run/run-summary.ts'
export { type AgentSession, hasBaton, isTerminal, type WorkingSession } from '../domain/session/agent-session.ts'
export type { ContextSignal } from '../domain/session/context-signal.ts'
export type { ContextWindowSnapshot } from '../domain/session/context-snapshot.ts'
export type { MessageInHistory } from '../domain/turn/message.ts'
export { totalMessages } from '../domain/turn/message-summary.ts'
export type { ToolCallReference } from '../domain/turn/tool-call.ts'
export type { MessageInput, Turn } from '../domain/turn/turn.ts'
export { RefusedError, unwrap } from '../domain/unwrap.ts'
export { DEFAULT_MILESTONES, type Milestone } from '../domain/window/milestone.ts'
export type { UsageReading } from '../domain/window/usage-reading.ts'
export { type Batonpass, createBatonpass } from '../main/batonpass.ts'
export { readConfiguration } from '../main/configuration.ts'
export type { CreateOptions } from '../main/options.ts'
export type { AgentRuntime } from '../ports/agent/agent-runtime.ts'
export { RuntimeFailure } from '../ports/agent/runtime-failure.ts'
export { WorktreeFailure } from '../ports/agent/worktrees.ts'
export { everyPage } from '../ports/store/page.ts'
export { StoreFailure } from '../ports/store/store-failure.ts'
export type { Logger } from '../ports/system/logger.ts'
export type { AgentRun } from '../services/run/agent-run.ts'
export type { Recovered } from '../services/run/recover/recovery.ts'
export type { RunItem } from '../services/run/run-items.ts'
export type { RunRequest } from '../services/run/run-request.ts'
