import { reportContext, sendSignal, watchContext } from './context-commands.ts'
import {
  closeConversation,
  openConversation,
  recordHookCalls,
  reopenConversation,
  setConversationMetadata,
} from './conversation-commands.ts'
import {
  acceptHandoff,
  cancelHandoff,
  claimNext,
  completeHandoff,
  failHandoff,
  initiateHandoff,
  openThread,
  renewClaim,
  setHandoffMetadata,
} from './handoff-commands.ts'
import { keepCheckpoint, prepareHandoff, restartSession } from './restart-commands.ts'
import {
  accountSession,
  attachSession,
  captureSnapshot,
  completeSession,
  failSession,
  pauseSession,
  resumeSession,
  setSessionMetadata,
  startSession,
  takeOverSession,
} from './session-commands.ts'
import { recordTurn, recordTurns } from './turn-commands.ts'

/** Every command of the services, by the name of its method. */
export const COMMANDS = {
  openConversation,
  closeConversation,
  reopenConversation,
  setConversationMetadata,
  startSession,
  pauseSession,
  resumeSession,
  completeSession,
  failSession,
  takeOverSession,
  attachSession,
  accountSession,
  recordTurn,
  recordTurns,
  captureSnapshot,
  initiateHandoff,
  restartSession,
  keepCheckpoint,
  prepareHandoff,
  acceptHandoff,
  claimNext,
  renewClaim,
  completeHandoff,
  cancelHandoff,
  failHandoff,
  openThread,
  setSessionMetadata,
  setHandoffMetadata,
  recordHooks: recordHookCalls,
  report: reportContext,
  watch: watchContext,
  send: sendSignal,
} as const
