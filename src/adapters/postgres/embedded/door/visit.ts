import type { Socket } from 'node:net'
import { describeThrown } from '../../../../domain/kernel/describe-thrown.ts'
import { StoreFailure } from '../../../../ports/store/store-failure.ts'
import type { EndTurn, Turns } from './turn-queue.ts'
import {
  DISK_FULL,
  failure,
  NO_COPY,
  NO_ENCRYPTION,
  olderProtocol,
  REPLACED,
  SYNC,
  stateAfter,
  type WireSessionState,
  welcome,
} from './wire-answers.ts'
import { WireBatch } from './wire-batch.ts'
import { violation, WireProblem } from './wire-problem.ts'
import { WireReader } from './wire-reader.ts'

/** The engine behind a door, and whose turn it is there. */
export interface Host {
  readonly turns: Turns
  readonly serverVersion: string
  /** Hands messages of the protocol to the engine. @throws StoreFailure `store.full`, `store.missing` */
  exchange(messages: Uint8Array): Promise<Buffer>
  /** Ends the transaction that a visitor left open. */
  rollback(): Promise<void>
}

/** How much and how long a visitor may. */
export interface VisitLimits {
  /** The most bytes of one statement. */
  readonly mostBytes: number
  /** How long it may leave its transaction, or its answer, lying while others wait. */
  readonly patienceMs: number
}

/** How long a visitor may take to read what was said to it last. */
const LAST_WORDS_MS = 1_000

const [CANCEL, TLS, GSS] = [80877102, 80877103, 80877104]

/** Serves one visitor until it leaves. Whatever it does, others are served after it. */
export const visit = async (socket: Socket, host: Host, limits: VisitLimits): Promise<void> => {
  const reader = new WireReader(socket, limits.mostBytes)
  try {
    // Does not keep the process: nobody waits for one who says nothing.
    socket.setTimeout(limits.patienceMs, () => socket.destroy())
    if (!(await isLetIn(socket, reader, host))) return
    socket.setTimeout(0)
    await serve(socket, reader, host, limits)
  } catch (error) {
    // A visitor that is gone is owed no answer.
    if (socket.writable) socket.write(lastWords(error))
  } finally {
    showOut(socket)
  }
}

/** The failures of a holder that visitors hear of as such. */
const STATES: Readonly<Partial<Record<StoreFailure['code'], string>>> = {
  'store.full': DISK_FULL,
  'store.missing': REPLACED,
}

const lastWords = (error: unknown): Buffer => {
  if (error instanceof WireProblem)
    return failure('FATAL', error.sqlState, `The door of this embedded store does not take ${error.message}.`)
  const state = error instanceof StoreFailure ? STATES[error.code] : undefined
  return failure('FATAL', state ?? 'XX000', describeThrown(error))
}

/** Lets a visitor have what was said to it, and then go; one that does not listen goes all the same. */
export const showOut = (socket: Socket): void => {
  socket.destroySoon()
  const timer = setTimeout(() => socket.destroy(), LAST_WORDS_MS)
  timer.unref()
  socket.once('close', () => clearTimeout(timer))
}

const isLetIn = async (socket: Socket, reader: WireReader, { serverVersion }: Host): Promise<boolean> => {
  // Encryption of either kind may be asked for, each once.
  for (let refusals = 0; refusals <= 2; refusals += 1) {
    const first = await reader.startup()
    if (first === undefined) return false
    const code = first.readInt32BE(0)
    if (code === CANCEL) return false
    if (code === TLS || code === GSS) {
      socket.write(NO_ENCRYPTION)
      continue
    }
    if (code >>> 16 !== 3) throw violation(`version ${code >>> 16} of the protocol`)
    if ((code & 0xffff) > 0) socket.write(olderProtocol())
    socket.write(welcome(serverVersion))
    return true
  }
  throw violation('more questions about encryption')
}

const serve = async (socket: Socket, reader: WireReader, host: Host, limits: VisitLimits): Promise<void> => {
  const batch = new WireBatch(limits.mostBytes)
  /** Kept while a transaction is open: the engine has one for everybody. */
  let turn: EndTurn | undefined
  try {
    for (;;) {
      const message = await unlessIdle(socket, turn !== undefined, limits, () => reader.next())
      if (message === undefined || message.type === 'X') return
      const statement = batch.add(message, turn !== undefined)
      if (statement === undefined) continue
      turn ??= await host.turns.take()
      if (socket.destroyed) return
      const [answer, state] = await answerTo(statement, host)
      if (state === 'I') {
        turn()
        turn = undefined
      }
      await unlessIdle(socket, true, limits, () => sent(socket, answer))
    }
  } finally {
    if (turn !== undefined) await host.rollback().finally(turn)
  }
}

const answerTo = async (
  statement: Buffer,
  host: Host,
): Promise<readonly [answer: Buffer, state: WireSessionState | undefined]> => {
  const answer = await host.exchange(Buffer.concat([statement, NO_COPY]))
  const state = stateAfter(answer)
  if (state !== undefined) return [answer, state]
  // A COPY took the end of its statement for its own.
  const rest = await host.exchange(SYNC)
  return [Buffer.concat([answer, rest]), stateAfter(rest)]
}

const sent = (socket: Socket, answer: Buffer): Promise<void> =>
  new Promise((resolve, reject) => {
    socket.write(answer, (error) => (error ? reject(error) : resolve()))
  })

/** Waits for the visitor, and not for ever: one that others wait for is shown out. */
const unlessIdle = async <T>(
  socket: Socket,
  isWaitedFor: boolean,
  { patienceMs }: VisitLimits,
  work: () => Promise<T>,
): Promise<T> => {
  if (!isWaitedFor) return work()
  // The timer also keeps this process from ending while its own statements wait for a visitor's turn to end.
  const timer = setTimeout(() => {
    socket.write(failure('FATAL', '25P03', `The visitor was idle for ${patienceMs} ms while others waited`))
    showOut(socket)
  }, patienceMs)
  try {
    return await work()
  } finally {
    clearTimeout(timer)
  }
}
