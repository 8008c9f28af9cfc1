/** Something a visitor said that ends the visit: its own, and nobody else's. */
export class WireProblem extends Error {
  override readonly name = 'WireProblem'
  readonly sqlState: string

  constructor(sqlState: string, message: string) {
    super(message)
    this.sqlState = sqlState
  }
}

/** Something that is not the protocol. */
export const violation = (message: string): WireProblem => new WireProblem('08P01', message)

/** Something that is the protocol, and more than this door does. */
export const unsupported = (message: string): WireProblem => new WireProblem('0A000', message)
