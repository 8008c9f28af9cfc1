import type { LogFields, Logger, LogLevel } from '../../../ports/system/logger.ts'
import { plain, toJsonLine } from '../render/render-text.ts'
import type { Output } from '../tree/command.ts'

/** Writes the log for people: how much it matters, the sentence, and the facts behind it. */
export const lineLogger = ({ line }: Output): Logger => {
  const write =
    (level: LogLevel) =>
    (fields: LogFields, message: string): void =>
      line(`[${level}] ${plain(message)} ${toJsonLine(fields)}`)
  return { debug: write('debug'), info: write('info'), warn: write('warn'), error: write('error') }
}
