/** Facts beside a message, by name. */
export type LogFields = Readonly<Record<string, unknown>>

/**
 * Gets the log lines of the library. The shape is that of pino, whose loggers can be used as they are: the facts first,
 * then a sentence for people.
 *
 * A logger that throws never ends a run or a command.
 */
export interface Logger {
  debug(fields: LogFields, message: string): void
  info(fields: LogFields, message: string): void
  warn(fields: LogFields, message: string): void
  error(fields: LogFields, message: string): void
}

/** How much a line matters. */
export type LogLevel = keyof Logger

/** Says nothing. */
export const silentLogger: Logger = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} }
