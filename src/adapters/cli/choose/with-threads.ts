import { defined } from '../../../domain/kernel/defined.ts'
import type { Result } from '../../../domain/kernel/result.ts'
import { describeThreadRefusal, type ThreadRefusal } from '../../../domain/thread/thread-refusal.ts'
import { type Batonpass, createBatonpass } from '../../../main/batonpass.ts'
import type { Logger } from '../../../ports/system/logger.ts'
import { redactedLogger } from '../../../services/commands/safe-logger.ts'
import { workspaceOf } from '../../place/workspace.ts'
import { plain } from '../render/render-text.ts'
import { redactorIn, sayHidden } from '../terminal/hidden-secrets.ts'
import type { Invocation } from '../tree/command.ts'
import { EXIT } from '../tree/exit-codes.ts'
import { CommandNotCompleted, UsageError } from '../tree/problems.ts'
import { textFlag } from './history-args.ts'
import { configurationFrom } from './run-choices.ts'
import { storeToRead } from './store-options.ts'

/** Opens Batonpass on the store that the flags choose, for a command about threads. Warnings go to the notes. */
export const withThreads = async <T>(
  invocation: Invocation,
  work: (batonpass: Batonpass) => Promise<T>,
): Promise<T> => {
  const quiet = (): void => {}
  const warn: Logger['warn'] = (fields, message) =>
    invocation.notes.line(`Warning: ${plain(message)} (${plain(Object.values(fields).map(String).join(', '))})`)
  const logger: Logger = { debug: quiet, info: quiet, warn, error: warn }
  const config = textFlag(invocation, 'config')
  const redactor = await redactorIn(invocation, await configurationFrom(invocation))
  const parts = { ...defined({ config }), logger: redactedLogger(logger, redactor.redactAll), redact: redactor.redact }
  await using batonpass = await createBatonpass({ ...storeToRead(invocation), ...parts })
  try {
    return await work(batonpass)
  } finally {
    sayHidden(invocation, redactor)
  }
}

/** The workspace that the flags name, or the one around the working directory. @throws UsageError */
export const workspaceIn = (invocation: Invocation): string => {
  const found = workspaceOf(textFlag(invocation, 'workspace') ?? process.cwd())
  if (found === undefined) throw new UsageError('--workspace names no folder that is there. Give its whole path.')
  return found
}

/** The answer, or the refusal as the end of the command. @throws CommandNotCompleted */
export const accepted = <T>(result: Result<T, ThreadRefusal>): T => {
  if (result.ok) return result.value
  throw refusedThread(result.error)
}

/** A refusal of a thread handoff as the end of a command. */
export const refusedThread = (refusal: ThreadRefusal): CommandNotCompleted =>
  new CommandNotCompleted(`${plain(describeThreadRefusal(refusal))} (${refusal.code})`, EXIT.refused)
