import { reportContext, sendSignal, watchContext } from './context-commands.ts'
import { openConversation, recordHookCalls } from './conversation-commands.ts'
import {
  acceptHandoff,
  cancelHandoff,
  claimNext,
  completeHandoff,
  failHandoff,
  initiateHandoff,
  openThread,
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
  startSession,
  takeOverSession,
} from './session-commands.ts'
import { recordTurn, recordTurns } from './turn-commands.ts'

/** Every command of the services, by the name of its method. */
export const COMMANDS = {
  openConversation,
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
  completeHandoff,
  cancelHandoff,
  failHandoff,
  openThread,
  recordHooks: recordHookCalls,
  report: reportContext,
  watch: watchContext,
  send: sendSignal,
} as const
