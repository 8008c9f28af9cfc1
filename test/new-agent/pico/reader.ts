import type { WindowReader } from '../../../src/ports/agent/window-reader.ts'

const saidIn = (record: unknown): string | undefined => {
  const said = (record as { readonly pico?: unknown } | null)?.pico
  return typeof said === 'string' ? said : undefined
}

/** Reads lines such as `{"pico":"Done."}`. */
export const picoReader: WindowReader = {
  format: 'pico-lines',
  recognises: (record) => saidIn(record) !== undefined,
  read: () => [],
  words: (record) => {
    const text = saidIn(record)
    return { texts: text === undefined ? [] : [{ role: 'assistant', text }] }
  },
}
