import { describeThrown } from '../../domain/kernel/describe-thrown.ts'
import type { LogFields, Logger, LogLevel } from '../../ports/system/logger.ts'

const LEVELS: readonly LogLevel[] = ['debug', 'info', 'warn', 'error']

/** The same logger, which never throws at its caller. */
export const safeLogger = (logger: Logger): Logger => {
  const safe = (level: LogLevel): Logger[LogLevel] => {
    return (fields, message) => {
      try {
        // One that is asynchronous in spite of its type may fail later.
        Promise.resolve(logger[level](fields, message) as unknown).catch(() => undefined)
      } catch {}
    }
  }
  return Object.fromEntries(LEVELS.map((level) => [level, safe(level)])) as unknown as Logger
}

/** An error as facts of a line: its code, and its sentence without secrets. */
export const errorFields = (error: unknown, redact: (text: string) => string = (text) => text): LogFields => ({
  ...(error instanceof Error && 'code' in error && { code: error.code }),
  error: redact(describeThrown(error)),
})

/** The same logger, which is told everything without its secrets. */
export const redactedLogger = (logger: Logger, redact: <T>(value: T) => T): Logger => {
  const redacted =
    (level: LogLevel): Logger[LogLevel] =>
    (fields, message) =>
      logger[level](redact(fields), redact(message))
  return Object.fromEntries(LEVELS.map((level) => [level, redacted(level)])) as unknown as Logger
}
