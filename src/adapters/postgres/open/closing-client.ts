import pg from 'pg'

/**
 * A client that closes its connection when it cannot log in. The driver leaves it open, and the process then cannot end until
 * the server gives up waiting for a password, which takes a minute.
 *
 * A pool connects by callback, and is called back in the same moment: it listens to the client from then on.
 */
export class ClosingClient extends pg.Client {
  override connect(): Promise<pg.Client>
  override connect(callback: (error: Error) => void): void
  override connect(callback?: (error: Error) => void): Promise<pg.Client> | undefined {
    if (callback === undefined) return super.connect()
    super.connect((error: Error | null) => {
      // It has failed already: how its end goes is of no interest.
      if (error) this.end(() => undefined)
      callback(error as Error)
    })
    return undefined
  }
}
