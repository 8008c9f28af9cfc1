import type { Engine, WireEngine } from '../pglite-dialect.ts'
import type { Door } from './door.ts'
import { Turns } from './turns.ts'

/**
 * Lets this process look at its sockets first. The engine answers without them, so a program that asks one thing after
 * the other would never come to serve anybody else.
 */
const afterOthersWereHeard = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

/**
 * Serves an engine at a door, if there is one. The process that has it speaks to it through what this returns, and takes
 * turns as visitors do: what is looked at before a statement is looked at right before it, and not while it waits.
 */
export const servedAt = async (door: Door | undefined, engine: WireEngine): Promise<Engine> => {
  const turns = new Turns()
  const { rows } = await engine.query<{ server_version: string }>('show server_version')
  door?.serve({
    turns,
    serverVersion: rows[0]?.server_version ?? '',
    exchange: (messages) => engine.exchange(messages),
    rollback: () => engine.rollback(),
  })
  const inTurn = async <T>(work: () => Promise<T>): Promise<T> => {
    if (door !== undefined) await afterOthersWereHeard()
    return turns.run(work)
  }
  return {
    get closed() {
      return engine.closed
    },
    waitReady: engine.waitReady,
    query: (text, parameters) => inTurn(() => engine.query(text, parameters)),
    transaction: (work) => inTurn(() => engine.transaction(work)),
    close: () => turns.run(() => engine.close()),
  }
}
