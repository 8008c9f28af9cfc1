export {
  type FunctionRuntimeOptions,
  functionRuntime,
  type MessageMeaning,
} from './adapters/runtime/function-runtime.ts'
export { InProcessNotifier, type SignalListener } from './adapters/system/in-process-notifier.ts'
export { sha256 } from './adapters/system/sha256.ts'
export { systemClock } from './adapters/system/system-clock.ts'
export { uuidV7Ids } from './adapters/system/uuid-v7-ids.ts'
export { type Batonpass, createBatonpass } from './batonpass.ts'
export { readConfiguration } from './configuration.ts'
export {
  buildContainer,
  type ContainerParts,
  TOKENS,
} from './container.ts'
export type { AuditHead, SealedEntry } from './domain/audit/audit-chain.ts'
export type { TextCounts } from './domain/audit/audit-texts.ts'
export type { AuditProblem, AuditProblemClass, AuditVerdict, ClockSetBack } from './domain/audit/audit-verdict.ts'
export type { AuditEntry, AuditEvent, TextErased, TextName } from './domain/audit-event.ts'
export type { BudgetLimit, RestartBudget } from './domain/budget/restart-budget.ts'
export type { CheckpointFacts, CheckpointOutcome } from './domain/checkpoint/checkpoint-facts.ts'
export {
  CONVERSATION_TRANSITIONS,
  type Conversation,
  type ConversationState,
  taskOf,
  type Workspace,
} from './domain/conversation/conversation.ts'
export type { OpenConversation } from './domain/conversation/open-conversation.ts'
export type { Change, Expected, ExpectedHandoff } from './domain/decision.ts'
export {
  type Claim,
  HANDOFF_TRANSITIONS,
  type HandoffFlag,
  type HandoffKind,
  type HandoffMetadata,
  type HandoffStatus,
  isOpen,
  type TraceContext,
} from './domain/handoff/handoff.ts'
export type { HandoffAccepted, HandoffCompleted } from './domain/handoff/settle-handoff.ts'
export { foldHistory, type History } from './domain/history/history.ts'
export type { Lineage, LineageBranch, LineageRecord, LineageSubject } from './domain/history/lineage.ts'
export type { WindowAtTurn } from './domain/history/window-at-turn.ts'
export type { HookEvent, HookMoment, HookSettings } from './domain/hooks/hook-settings.ts'
export type { InputProblem } from './domain/input/check.ts'
export type { CutText } from './domain/kernel/cut-text.ts'
export type { Sha256 } from './domain/kernel/digest.ts'
export {
  type AgentSessionId,
  agentSessionId,
  type CommandId,
  type ConversationId,
  commandId,
  conversationId,
  type HandoffId,
  type HolderToken,
  handoffId,
  holderToken,
  type MessageId,
  messageId,
  type SignalId,
  type SnapshotId,
  signalId,
  snapshotId,
  type TurnId,
  turnId,
} from './domain/kernel/ids.ts'
export { type Instant, instant } from './domain/kernel/instant.ts'
export type { Metadata, MetadataTypes } from './domain/kernel/metadata.ts'
export type { Result } from './domain/kernel/result.ts'
export {
  rangeContains,
  rangeLength,
  type SequenceNumber,
  type SequenceRange,
  sequenceRange,
} from './domain/kernel/sequence.ts'
export { type TransitionTable, terminalStates, toMermaid } from './domain/kernel/state-machine.ts'
export { TEXT_WITHHELD, withholdTexts } from './domain/kernel/texts.ts'
export { describeRefusal, type Refusal, type RefusalCode } from './domain/refusal.ts'
export type { RestartBegun } from './domain/restart/begin-restart.ts'
export type { TurnsRecorded } from './domain/restart/record-turns.ts'
export type { ConfiguredAgent } from './domain/run/agent-settings.ts'
export {
  type CheckedConfiguration,
  type Configuration,
  ConfigurationError,
  type ConfigurationProblem,
  type ConfigurationSetting,
} from './domain/run/configuration.ts'
export type { RunEvent, RunEventType, WindowFigures } from './domain/run/run-event.ts'
export type { RunOutcome, RunSummary } from './domain/run/run-summary.ts'
export type { SessionMode, SessionSettings } from './domain/run/session-settings.ts'
export {
  type AgentSession,
  hasBaton,
  isTerminal,
  SESSION_TRANSITIONS,
  type SessionState,
  type WorkingSession,
} from './domain/session/agent-session.ts'
export type { ContextSignal, SignalDelivery, SignalKind, SignalStatus } from './domain/session/context-signal.ts'
export type { ContextWindowSnapshot, SnapshotRecord, SnapshotType } from './domain/session/context-snapshot.ts'
export type { LeaseAsked, ProcessFate, ProcessIdentity } from './domain/session/process-identity.ts'
export type { SessionStartedAnswer, StartSession } from './domain/session/start-session.ts'
export type { ThreadOpened } from './domain/thread/open-thread.ts'
export type { Message, MessageInHistory, MessageOrigin, MessageRole, SessionOpening } from './domain/turn/message.ts'
export { type MessageSummary, totalMessages } from './domain/turn/message-summary.ts'
export type { ToolCall, ToolCallReference } from './domain/turn/tool-call.ts'
export type { MessageInput, ToolCallInput, Turn, TurnInput } from './domain/turn/turn.ts'
export { RefusedError, unwrap } from './domain/unwrap.ts'
export type {
  ContextMonitor,
  MilestoneReached,
  MonitorEvent,
  MonitorSettings,
  PressurePolicy,
  RearmReason,
  RestartAdvice,
  RestartReason,
} from './domain/window/context-monitor.ts'
export type { Pressure, WindowParts, WindowSize, WindowSource } from './domain/window/context-pressure.ts'
export { DEFAULT_MILESTONES, type Milestone, type MilestoneName } from './domain/window/milestone.ts'
export type { MonitorReport, ReportOutcome } from './domain/window/monitor-reports.ts'
export type { ReadingSemantics, UsageProvenance, UsageReading, UsageTotals } from './domain/window/usage-reading.ts'
export type { CompactionTrigger, WindowEvent } from './domain/window/window-event.ts'
export { WindowGauge } from './domain/window/window-gauge.ts'
export type {
  CompactionSeen,
  Gauged,
  WindowGaugeOptions,
  WindowHistory,
} from './domain/window/window-history.ts'
export type { BatonpassOptions, CreateOptions, StoreOptions } from './options.ts'
export type { AgentHandoffPort } from './ports/agent-handoff-port.ts'
export type { AgentProcesses } from './ports/agent-processes.ts'
export type {
  AgentRuntime,
  Launch,
  OnProcess,
  Resumption,
  RunningAgent,
  RuntimeEnd,
  RuntimeQuestion,
  RuntimeReply,
  RuntimeStep,
  TranscriptStep,
} from './ports/agent-runtime.ts'
export type { AgentSessionRepository } from './ports/agent-session-repository.ts'
export type { AuditLog, ChainPage, Changes, FeedEntry } from './ports/audit-log.ts'
export type { AuditedRows, SharedId } from './ports/audited-rows.ts'
export type { CommandRetention } from './ports/command-retention.ts'
export type { ContextMonitorPort } from './ports/context-monitor-port.ts'
export type { ContextSnapshotPort } from './ports/context-snapshot-port.ts'
export type { ConversationRepository } from './ports/conversation-repository.ts'
export type { ConversationFilter, HandoffFilter, OverdueRule, SessionFilter } from './ports/history-filters.ts'
export type { LogFields, Logger, LogLevel } from './ports/logger.ts'
export type { MessageRepository, PersonMessages, PersonMessagesWanted } from './ports/message-repository.ts'
export type { Notifier } from './ports/notifier.ts'
export { type Cursor, everyPage, type ListOrder, type Page, type Paged } from './ports/page.ts'
export type { Receipt } from './ports/receipt.ts'
export type {
  HandoffSpan,
  RunTelemetry,
  SessionSpan,
  SpanEnd,
  SpannedHandoff,
  SpannedSession,
  SpannedTurn,
} from './ports/run-telemetry.ts'
export { RuntimeFailure, type RuntimeFailureCode } from './ports/runtime-failure.ts'
export type { ExpiredLease, HeldLease, SessionLeases } from './ports/session-leases.ts'
export type { SignalQueue } from './ports/signal-queue.ts'
export type { Store } from './ports/store.ts'
export { StoreFailure, type StoreFailureCode } from './ports/store-failure.ts'
export type { Clock, IdGenerator } from './ports/system.ts'
export type {
  CommandStamp,
  CommitOutcome,
  Loaded,
  Question,
  Repeated,
  Subjects,
  Unit,
  UnitOfWork,
} from './ports/unit-of-work.ts'
export type { RecordedText, WindowReader } from './ports/window-reader.ts'
export { WorktreeFailure, type WorktreeFailureCode, type Worktrees } from './ports/worktrees.ts'
export type { HandoffAndSource, RecordedTurns, Reply } from './services/answers.ts'
export { AuditService, type AuditServiceDeps, type FollowRequest } from './services/audit-service.ts'
export {
  type ContextReport,
  ContextService,
  type ContextServiceDeps,
  type ContextStatus,
  type WindowStanding,
} from './services/context-service.ts'
export { HandoffHistory } from './services/handoff-history.ts'
export { HandoffService } from './services/handoff-service.ts'
export type {
  AcceptRequest,
  AccountRequest,
  AttachRequest,
  ClaimNextRequest,
  CompleteRequest,
  ConversationMetadataRequest,
  EndRequest,
  ExtendTurnRequest,
  ExtractRequest,
  FailSessionRequest,
  HandoffMetadataRequest,
  HooksRequest,
  InitiateRequest,
  KeepCheckpointRequest,
  OnConversation,
  OnSession,
  PrepareRequest,
  RecordTurnRequest,
  RecordTurnsRequest,
  ReportRequest,
  RestartRequest,
  ResumeRequest,
  SendRequest,
  SessionMetadataRequest,
  SnapshotRequest,
  TakeOverRequest,
  ThreadRequest,
  WatchRequest,
} from './services/requests.ts'
export { RestartRunner } from './services/restart-runner.ts'
export { AgentRun } from './services/runner/agent-run.ts'
export type { PriceOf } from './services/runner/cost-meter.ts'
export type { Recovered, RecoverRequest } from './services/runner/recover.ts'
export type { RunnerDeps } from './services/runner/run-in-progress.ts'
export type { RunItem, RunMessage } from './services/runner/run-items.ts'
export type { AgentRunSettings, RunRequest, RunSettings } from './services/runner/run-request.ts'
export type { HandoffServiceDeps } from './services/session-keeping.ts'
