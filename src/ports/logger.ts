/** Facts beside a message, by name. */
export type LogFields = Readonly<Record<string, unknown>>

/**
 * Is told what happens in the library. The shape is that of pino, whose loggers fit as they are: the facts first, then a
 * sentence for people.
 *
 * Whatever a logger does or throws, nobody's work ends because of it.
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
