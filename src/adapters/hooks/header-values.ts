import type { Variables } from './variables.ts'

/** A header that cannot be sent. The message names it and the variable, and never the value. */
export class BadHeader extends Error {
  override readonly name = 'BadHeader'
}

/** They say where a request ends and whom it is for, which is not for a configuration to say. */
const FRAMING = new Set(['host', 'content-length', 'transfer-encoding', 'connection', 'upgrade', 'expect'])

const LINE_BREAK = /[\r\n]/
/** All that HTTP lets a header hold. */
const SENDABLE = /^[\t\u0020-\u007e\u0080-\u00ff]*$/

/**
 * Headers with their variables filled in.
 *
 * @throws BadHeader when a value cannot be sent, as one from a file that ends in a line break
 */
export const filledHeaders = (
  headers: Readonly<Record<string, string>>,
  variables: Variables,
): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(headers)
      .filter(([name]) => !FRAMING.has(name.toLowerCase()))
      .map(([name, text]) => {
        const value = variables.fill(text)
        if (!SENDABLE.test(value)) throw new BadHeader(describe(name, text, variables))
        return [name.toLowerCase(), value]
      }),
  )

const describe = (name: string, text: string, variables: Variables): string => {
  const [ending] = variables.namesIn(text, (value) => /[\r\n]$/.test(value))
  if (ending !== undefined)
    return `The header ${name} cannot be sent: the variable ${ending} ends in a line break. Set it without one.`
  const [broken] = variables.namesIn(text, (value) => LINE_BREAK.test(value))
  if (broken !== undefined)
    return `The header ${name} cannot be sent: the variable ${broken} has a line break in it. Set it on one line.`
  const [odd] = variables.namesIn(text, (value) => !SENDABLE.test(value))
  const where = odd === undefined ? 'its text' : `the variable ${odd}`
  return `The header ${name} cannot be sent: ${where} has a character that headers cannot hold.`
}
