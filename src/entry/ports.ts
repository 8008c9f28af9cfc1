export type { FunctionRuntimeOptions, MessageMeaning } from '../adapters/runtime/function-runtime.ts'
export type { AuditHead, SealedEntry } from '../domain/audit/audit-chain.ts'
export type { TextCounts } from '../domain/audit/audit-texts.ts'
export type { AuditProblem, AuditProblemClass, AuditVerdict, ClockSetBack } from '../domain/audit/audit-verdict.ts'
export type { AuditEvent, TextErased, TextName } from '../domain/audit-event.ts'
export type { BudgetLimit } from '../domain/budget/restart-budget.ts'
export type { CheckpointFacts, CheckpointOutcome } from '../domain/checkpoint/checkpoint-facts.ts'
export {
  CONVERSATION_TRANSITIONS,
  type ConversationState,
  type Workspace,
} from '../domain/conversation/conversation.ts'
export type { OpenConversation } from '../domain/conversation/open-conversation.ts'
export type { Change, Expected, ExpectedHandoff } from '../domain/decision.ts'
export {
  type Claim,
  HANDOFF_TRANSITIONS,
  type HandoffFlag,
  type HandoffKind,
  type HandoffStatus,
  type TraceContext,
} from '../domain/handoff/handoff.ts'
export type { HandoffAccepted, HandoffCompleted } from '../domain/handoff/settle-handoff.ts'
export { foldHistory, type History } from '../domain/history/history.ts'
export type { LineageRecord, LineageSubject } from '../domain/history/lineage.ts'
export type {
  LookBackAnswer,
  LookBackCall,
  LookBackHit,
  LookBackPlace,
  LookBackQuestion,
  Passage,
} from '../domain/history/look-back.ts'
export type {
  LookBackBounds,
  LookBackPoint,
  LookBackRead,
  LookBackScope,
  LookBackWanted,
} from '../domain/history/look-back-search.ts'
export type { WindowAtTurn } from '../domain/history/window-at-turn.ts'
export type { InputProblem } from '../domain/input/check.ts'
export type { CutText } from '../domain/kernel/cut-text.ts'
export type { Sha256 } from '../domain/kernel/digest.ts'
export {
  type CommandId,
  type LookBackId,
  type MessageId,
  messageId,
  type SignalId,
  type SnapshotId,
  signalId,
  snapshotId,
} from '../domain/kernel/ids.ts'
export type { Instant } from '../domain/kernel/instant.ts'
export type { Metadata, MetadataTypes } from '../domain/kernel/metadata.ts'
export {
  rangeContains,
  rangeLength,
  type SequenceNumber,
  type SequenceRange,
  sequenceRange,
} from '../domain/kernel/sequence.ts'
export { type TransitionTable, terminalStates, toMermaid } from '../domain/kernel/state-machine.ts'
export { TEXT_WITHHELD } from '../domain/kernel/texts.ts'
export type { BlockRefusal } from '../domain/memory-block/block-refusal.ts'
export type { BlockMarkers } from '../domain/memory-block/memory-block.ts'
export type { TurnsRecorded } from '../domain/recording/record-turns.ts'
export type { RestartBegun } from '../domain/restart/begin-restart.ts'
export type { ConfiguredAgent } from '../domain/run/configured-agent.ts'
export type {
  CheckedConfiguration,
  Configuration,
  ConfigurationProblem,
  ConfigurationSetting,
} from '../domain/run/run-configuration.ts'
export type { RunEventType, WindowFigures } from '../domain/run/run-event.ts'
export type { RunOutcome } from '../domain/run/run-summary.ts'
export type { SessionMode, SessionSettings } from '../domain/run/session-settings.ts'
export { SESSION_TRANSITIONS, type SessionState } from '../domain/session/agent-session.ts'
export type { SignalDelivery, SignalKind, SignalStatus } from '../domain/session/context-signal.ts'
export type { SnapshotRecord, SnapshotType } from '../domain/session/context-snapshot.ts'
export type { LookBackBy, LookBackInHistory, LookBackRecord } from '../domain/session/looked-back.ts'
export type { LeaseAsked, ProcessFate, ProcessIdentity } from '../domain/session/process-identity.ts'
export type { SessionStartedAnswer, StartSession } from '../domain/session/start-session.ts'
export type { SummaryMessage, SummarySource } from '../domain/summary/summary-source.ts'
export type { ThreadSummary, WrittenSummary } from '../domain/summary/thread-summary.ts'
export type { DelegatedThread, ThreadTree } from '../domain/thread/delegated-thread.ts'
export type { ThreadOpened } from '../domain/thread/open-thread.ts'
export type { ThreadDraft } from '../domain/thread/thread-draft.ts'
export { describeThreadRefusal, type ThreadRefusal } from '../domain/thread/thread-refusal.ts'
export type { Message, MessageOrigin, MessageRole, SessionOpening } from '../domain/turn/message.ts'
export type { MessageSummary } from '../domain/turn/message-summary.ts'
export type { ToolCall } from '../domain/turn/tool-call.ts'
export type { ToolCallInput, TurnInput } from '../domain/turn/turn.ts'
export type {
  ContextMonitor,
  MilestoneReached,
  MonitorEvent,
  MonitorSettings,
  PressurePolicy,
  RearmReason,
  RestartAdvice,
  RestartReason,
  WindowStanding,
} from '../domain/window/context-monitor.ts'
export type { MilestoneName } from '../domain/window/milestone.ts'
export type { AgentProcesses } from '../ports/agent/agent-processes.ts'
export type {
  Launch,
  OnProcess,
  Resumption,
  RunningAgent,
  RuntimeEnd,
  RuntimeQuestion,
  RuntimeReply,
  RuntimeStep,
  TranscriptStep,
  TransferAsked,
} from '../ports/agent/agent-runtime.ts'
export type {
  HandsOver,
  LooksBack,
  RunTools,
  ServedTools,
  ToolQuestion,
  ToolRefused,
  ToolsEndpoint,
  ToolsOffered,
} from '../ports/agent/run-tools.ts'
export type { RuntimeFailureCode } from '../ports/agent/runtime-failure.ts'
export type { Summarizer, SummaryMaterial } from '../ports/agent/summarizer.ts'
export type { WorktreeFailureCode, Worktrees } from '../ports/agent/worktrees.ts'
export type { AgentHandoffPort } from '../ports/store/agent-handoff-port.ts'
export type { AgentSessionRepository } from '../ports/store/agent-session-repository.ts'
export type { AuditLog, ChainPage, Changes, FeedEntry } from '../ports/store/audit-log.ts'
export type { AuditedRows, SharedId } from '../ports/store/audited-rows.ts'
export type { CallerTransaction, ClientInTransaction, KyselyTransaction } from '../ports/store/caller-transaction.ts'
export type { CommandRetention } from '../ports/store/command-retention.ts'
export type { ContextMonitorPort } from '../ports/store/context-monitor-port.ts'
export type { ContextSnapshotPort } from '../ports/store/context-snapshot-port.ts'
export type { ConversationRepository } from '../ports/store/conversation-repository.ts'
export type { ConversationFilter, HandoffFilter, OverdueRule, SessionFilter } from '../ports/store/history-filters.ts'
export type { LookBackPort } from '../ports/store/look-back-port.ts'
export type { MessageRepository, PersonMessages, PersonMessagesWanted } from '../ports/store/message-repository.ts'
export type { Cursor, ListOrder, Page, Paged } from '../ports/store/page.ts'
export type { Receipt } from '../ports/store/receipt.ts'
export type { ExpiredLease, HeldLease, SessionLeases } from '../ports/store/session-leases.ts'
export type { SignalQueue } from '../ports/store/signal-queue.ts'
export type { Store } from '../ports/store/store.ts'
export type { StoreFailureCode } from '../ports/store/store-failure.ts'
export type { KeptSummary, SummaryFigures, SummaryFilter, ThreadSummaries } from '../ports/store/thread-summaries.ts'
export type { UnfinishedPage, UnfinishedSession, WaitingSignals } from '../ports/store/unfinished-session.ts'
export type {
  CommandStamp,
  CommitOutcome,
  Loaded,
  Question,
  Repeated,
  Subjects,
  Unit,
  UnitOfWork,
} from '../ports/store/unit-of-work.ts'
export type { WakeUpListener, WakeUpState, WakeUps } from '../ports/store/wake-ups.ts'
export type { CommandEnd, CommandTelemetry, MeasuredAgent, Measurement } from '../ports/system/command-telemetry.ts'
export type { LogFields, LogLevel } from '../ports/system/logger.ts'
export type { Notifier } from '../ports/system/notifier.ts'
export type {
  HandoffSpan,
  RunTelemetry,
  SessionSpan,
  SpanEnd,
  SpannedHandoff,
  SpannedSession,
  SpannedTurn,
} from '../ports/system/run-telemetry.ts'
export type { Clock, IdGenerator } from '../ports/system/system.ts'
export { type MemoryFile, MemoryFileFailure, type MemoryFiles } from '../ports/terminal/memory-file.ts'
export type { FollowRequest } from '../services/audit/audit-service.ts'
export type { HandoffAndSource, RecordedTurns, Reply } from '../services/commands/answers.ts'
export type {
  AcceptRequest,
  AccountRequest,
  AttachRequest,
  ChangeSessionRequest,
  ClaimNextRequest,
  CompleteRequest,
  ConversationMetadataRequest,
  EndRequest,
  ExtendTurnRequest,
  ExtractRequest,
  FailSessionRequest,
  HandoffMetadataRequest,
  HolderOrHand,
  HooksRequest,
  InitiateRequest,
  KeepCheckpointRequest,
  LookBackRecordRequest,
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
} from '../services/commands/requests.ts'
export type { LookBackAsked } from '../services/history/look-back-question.ts'
export type { LookBackRequest } from '../services/history/look-back-service.ts'
export type { RecoverRequest } from '../services/run/recover/recovery.ts'
export type { RunMessage } from '../services/run/run-items.ts'
export type { ContextReport, ContextStatus } from '../services/window/context-service.ts'
