import type { ClientConfig } from 'pg'
import { ClosingClient } from './closing-client.ts'
import type { Server } from './server-list.ts'
import type { ServerSearch } from './server-search.ts'

/** A client that knows which server it leads to. */
export interface ServerClient extends ClosingClient {
  readonly server: Server
}

/** The clients of a search: each leads to the server that was found last, and doubts it when it cannot connect. */
export const clientOf = (search: ServerSearch): (new (config?: ClientConfig) => ServerClient) =>
  class extends ClosingClient {
    readonly server: Server

    constructor(config: ClientConfig = {}) {
      const server = search.latest
      super({ ...config, ...server.config })
      this.server = server
    }

    override connect(): Promise<ClosingClient>
    override connect(callback: (error: Error) => void): void
    override connect(callback?: (error: Error) => void): Promise<ClosingClient> | undefined {
      if (callback === undefined)
        return super.connect().catch((error: unknown) => {
          search.doubt(this.server)
          throw error
        }) as Promise<ClosingClient>
      super.connect((error) => {
        if (error) search.doubt(this.server)
        callback(error)
      })
      return undefined
    }
  }
