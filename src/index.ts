export {
  type FunctionRuntimeOptions,
  functionRuntime,
  type MessageMeaning,
} from './adapters/runtime/function-runtime.ts'
export { InProcessNotifier, type SignalListener } from './adapters/system/in-process-notifier.ts'
export { sha256 } from './adapters/system/sha256.ts'
export { systemClock } from './adapters/system/system-clock.ts'
export { uuidV7Ids } from './adapters/system/uuid-v7-ids.ts'
export { type Batonpass, type CreateOptions, createBatonpass } from './batonpass.ts'
export {
  type BatonpassOptions,
  buildContainer,
  type ContainerParts,
  readConfiguration,
  type StoreOptions,
  TOKENS,
} from './container.ts'
export {
  type AgentSession,
  hasBaton,
  isTerminal,
  SESSION_TRANSITIONS,
  type SessionState,
  type WorkingSession,
} from './domain/agent-session.ts'
export type { ConfiguredAgent } from './domain/agent-settings.ts'
export type { AuditHead, SealedEntry, Sha256 } from './domain/audit-chain.ts'
export type { AuditEntry, AuditEvent, TextErased, TextName } from './domain/audit-event.ts'
export type { TextCounts } from './domain/audit-texts.ts'
export type { AuditProblem, AuditProblemClass, AuditVerdict, ClockSetBack } from './domain/audit-verdict.ts'
export type { CheckpointFacts, CheckpointOutcome } from './domain/checkpoint-facts.ts'
export {
  type CheckedConfiguration,
  type Configuration,
  ConfigurationError,
  type ConfigurationProblem,
  type ConfigurationSetting,
} from './domain/configuration.ts'
export type {
  ContextMonitor,
  MilestoneReached,
  MonitorEvent,
  MonitorSettings,
  PressurePolicy,
  RearmReason,
  RestartAdvice,
  RestartReason,
} from './domain/context-monitor.ts'
export type { Pressure, WindowParts, WindowSize, WindowSource } from './domain/context-pressure.ts'
export type { ContextSignal, SignalDelivery, SignalKind, SignalStatus } from './domain/context-signal.ts'
export type { ContextWindowSnapshot, SnapshotRecord, SnapshotType } from './domain/context-snapshot.ts'
export {
  CONVERSATION_TRANSITIONS,
  type Conversation,
  type ConversationState,
  taskOf,
  type Workspace,
} from './domain/conversation.ts'
export type { CutText } from './domain/cut-text.ts'
export type { Change, Expected, ExpectedHandoff } from './domain/decision.ts'
export type { RestartBegun } from './domain/decisions/begin-restart.ts'
export type { OpenConversation } from './domain/decisions/open-conversation.ts'
export type { ThreadOpened } from './domain/decisions/open-thread.ts'
export type { TurnsRecorded } from './domain/decisions/record-turns.ts'
export type { HandoffAccepted, HandoffCompleted } from './domain/decisions/settle-handoff.ts'
export type { SessionStartedAnswer, StartSession } from './domain/decisions/start-session.ts'
export {
  type Claim,
  HANDOFF_TRANSITIONS,
  type HandoffFlag,
  type HandoffKind,
  type HandoffMetadata,
  type HandoffStatus,
  isOpen,
  type TraceContext,
} from './domain/handoff.ts'
export { foldHistory, type History } from './domain/history.ts'
export type { HookEvent, HookMoment, HookSettings } from './domain/hook-settings.ts'
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
} from './domain/ids.ts'
export type { InputProblem } from './domain/input/check.ts'
export { type Instant, instant } from './domain/instant.ts'
export type { Lineage, LineageBranch, LineageRecord, LineageSubject } from './domain/lineage.ts'
export type { Message, MessageInHistory, MessageOrigin, MessageRole, SessionOpening } from './domain/message.ts'
export { type MessageSummary, totalMessages } from './domain/message-summary.ts'
export type { Metadata, MetadataTypes } from './domain/metadata.ts'
export { DEFAULT_MILESTONES, type Milestone, type MilestoneName } from './domain/milestone.ts'
export type { MonitorReport, ReportOutcome } from './domain/monitor-reports.ts'
export type { LeaseAsked, ProcessFate, ProcessIdentity } from './domain/process-identity.ts'
export { describeRefusal, type Refusal, type RefusalCode } from './domain/refusal.ts'
export type { BudgetLimit, RestartBudget } from './domain/restart-budget.ts'
export type { Result } from './domain/result.ts'
export type { RunEvent, RunEventType, WindowFigures } from './domain/run-event.ts'
export type { RunOutcome, RunSummary } from './domain/run-summary.ts'
export {
  rangeContains,
  rangeLength,
  type SequenceNumber,
  type SequenceRange,
  sequenceRange,
} from './domain/sequence.ts'
export type { SessionMode, SessionSettings } from './domain/session-settings.ts'
export { type TransitionTable, terminalStates, toMermaid } from './domain/state-machine.ts'
export { TEXT_WITHHELD, withholdTexts } from './domain/texts.ts'
export type { ToolCall, ToolCallReference } from './domain/tool-call.ts'
export type { MessageInput, ToolCallInput, Turn, TurnInput } from './domain/turn.ts'
export { RefusedError, unwrap } from './domain/unwrap.ts'
export type { ReadingSemantics, UsageProvenance, UsageReading, UsageTotals } from './domain/usage-reading.ts'
export type { WindowAtTurn } from './domain/window-at-turn.ts'
export type { CompactionTrigger, WindowEvent } from './domain/window-event.ts'
export type {
  CompactionSeen,
  SignalSeen,
  WindowHistory,
  WindowSample,
  WindowTrackerOptions,
} from './domain/window-history.ts'
export { reportOf } from './domain/window-report.ts'
export { WindowTracker } from './domain/window-tracker.ts'
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
