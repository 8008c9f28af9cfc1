import { asWords, forTerminal } from '../../../domain/kernel/safe-text.ts'
import type { LogFields, Logger, LogLevel } from '../../../ports/system/logger.ts'
import type { Output } from '../invocation/output.ts'

/** Writes the log for people: how much it matters, the sentence, and the facts behind it. */
export const lineLogger = ({ line }: Output): Logger => {
  const write =
    (level: LogLevel) =>
    (fields: LogFields, message: string): void =>
      line(`[${level}] ${asWords(message)} ${forTerminal(JSON.stringify(fields))}`)
  return { debug: write('debug'), info: write('info'), warn: write('warn'), error: write('error') }
}
