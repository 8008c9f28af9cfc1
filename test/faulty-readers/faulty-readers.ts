import { agentSdkReader } from '../../src/entry/claude.ts'
import type { WindowEvent, WindowReader } from '../../src/entry/window.ts'

const spoilt = (read: WindowReader['read'], recognises = agentSdkReader.recognises): WindowReader => ({
  format: 'faulty',
  recognises,
  read,
})

type Message = { readonly message: { readonly content: readonly unknown[]; usage?: { input_tokens: number } } }

/** Trusts the shape of what it is sent. */
export const trusting = spoilt((record) => {
  const { content } = (record as Message).message
  return [{ type: 'appended', characters: content.length }]
})

/** Follows what it is sent all the way down. */
export const bottomless = spoilt((record) => {
  const depth = (value: unknown): number =>
    typeof value === 'object' && value !== null ? 1 + Math.max(0, ...Object.values(value).map(depth)) : 0
  depth(record)
  return agentSdkReader.read(record)
})

/** Takes any usage it can find for a reading. */
export const greedy = spoilt((record) => {
  const { usage } = Object(record) as { usage?: { input_tokens?: unknown } }
  const tokens = usage?.input_tokens
  return typeof tokens === 'number' && tokens > 0 && agentSdkReader.recognises(record)
    ? [{ type: 'request', key: 'any', promptTokens: tokens, outputTokens: 0 }]
    : agentSdkReader.read(record)
})

/** Counts what it has read. */
export const remembering = (): WindowReader => {
  const seen: unknown[] = []
  return spoilt((record) => {
    seen.push(record)
    return agentSdkReader.read(record).map((event) => ({ ...event, key: `${seen.length}` }))
  })
}

/** Claims every record there is. */
export const claiming = spoilt(agentSdkReader.read, () => true)

/** Refuses records with a field it has not heard of. */
export const strict = spoilt((record): readonly WindowEvent[] =>
  'batonpass_unheard_of' in Object(record) ? [] : agentSdkReader.read(record),
)

/** Says nothing, ever. */
export const silent = spoilt(() => [])
