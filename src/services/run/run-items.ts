import type { AgentSessionId } from '../../domain/kernel/ids.ts'
import type { RunEvent } from '../../domain/run/run-event.ts'

/** A message of the agent, and its session. */
export interface RunMessage<Message> {
  readonly type: 'message'
  readonly sessionId: AgentSessionId
  readonly message: Message
}

/** A message or an event in the stream of a run; `type` tells which. */
export type RunItem<Message> = RunMessage<Message> | RunEvent

/** Marks the point before a successor is launched: the run waits for its reader there, though there is no message. */
export const BEFORE_SUCCESSOR: unique symbol = Symbol('between two sessions')

/** The parts of a run that its one stream is made of. */
export interface ItemSource<Message> {
  readonly messages: AsyncIterator<Message | typeof BEFORE_SUCCESSOR, void>
  readonly on: (listener: (event: RunEvent) => void) => () => void
  /** The session of the latest message. */
  readonly sessionId: () => AgentSessionId
}

/**
 * Messages and events as one stream, in the order in which they happened: events come while the agent works, and an
 * event that happened before a message stands before it. To leave this stream is to leave the messages, at any time.
 */
export const inOrder = <Message>(source: ItemSource<Message>): AsyncIterator<RunItem<Message>, void> => {
  const items = itemsOf(source)
  return {
    next: () => items.next(),
    return: async () => {
      try {
        await source.messages.return?.()
      } finally {
        await items.return()
      }
      return { done: true, value: undefined }
    },
  }
}

type Arrived<Message> =
  | { readonly result: IteratorResult<Message | typeof BEFORE_SUCCESSOR, void> }
  | { readonly error: unknown }

async function* itemsOf<Message>({
  messages,
  on,
  sessionId,
}: ItemSource<Message>): AsyncGenerator<RunItem<Message>, void> {
  const happened: RunEvent[] = []
  let wake = (): void => undefined
  const off = on((event) => {
    happened.push(event)
    wake()
  })
  try {
    for (;;) {
      let arrived: Arrived<Message> | undefined
      void settled(messages.next()).then((value) => {
        arrived = value
        wake()
      })
      while (arrived === undefined || happened.length > 0) {
        const event = happened.shift()
        if (event !== undefined) yield event
        else
          await new Promise<void>((resolve) => {
            wake = resolve
          })
      }
      if ('error' in arrived) throw arrived.error
      if (arrived.result.done === true) return
      const { value: message } = arrived.result
      if (message !== BEFORE_SUCCESSOR) yield { type: 'message', sessionId: sessionId(), message }
    }
  } finally {
    off()
  }
}

/** The result or the error as a value: a reader that leaves while it is pending would leave a rejection unhandled. */
const settled = async <Message>(
  next: Promise<IteratorResult<Message | typeof BEFORE_SUCCESSOR, void>>,
): Promise<Arrived<Message>> => {
  try {
    return { result: await next }
  } catch (error) {
    return { error }
  }
}
