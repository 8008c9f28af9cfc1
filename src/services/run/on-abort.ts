/** Acts when a signal aborts, or at once when it has, until it is disposed of. */
export const onAbort = (signal: AbortSignal | undefined, act: (reason: unknown) => void): Disposable => {
  const abort = (): void => act(signal?.reason)
  if (signal?.aborted === true) abort()
  else signal?.addEventListener('abort', abort, { once: true })
  return { [Symbol.dispose]: () => signal?.removeEventListener('abort', abort) }
}
