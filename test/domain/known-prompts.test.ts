import { createHash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { originOn } from '../../src/domain/turn/channel.ts'
import { type KnownPrompt, metPrompt, withPrompt } from '../../src/domain/turn/known-prompts.ts'

const how = { sha256: (data: Uint8Array) => new Uint8Array(createHash('sha256').update(data).digest()) }
const knowing = (...texts: readonly string[]): readonly KnownPrompt[] =>
  texts.reduce<readonly KnownPrompt[]>((known, text, index) => withPrompt(known, { by: `${index}`, text }, how), [])

describe('the origin of a user’s text', () => {
  it.each([
    ['stream', 'person', 'unknown'],
    ['stream', 'batonpass', 'unknown'],
    ['stream', undefined, 'unknown'],
    ['stream', 'runtime', 'runtime'],
    ['stream', 'hook', 'hook'],
    ['transcript', 'person', 'person'],
    ['transcript', 'batonpass', 'unknown'],
    ['transcript', undefined, 'unknown'],
    ['recording', 'person', 'unknown'],
    ['recording', undefined, 'unknown'],
    ['recording', 'runtime', 'runtime'],
  ] as const)('on a %s that claims %s is %s', (channel, claimed, origin) => {
    expect(originOn(channel, claimed)).toBe(origin)
  })
})

describe('a prompt that is known', () => {
  it('is met once for each time it was said, whatever stands around it', () => {
    const once = metPrompt(knowing('go on', 'go on'), ' go on\r\n', how) ?? []
    const twice = metPrompt(once, 'go on', how) ?? []
    expect(twice).toEqual([{ by: '0' }, { by: '1' }])
    expect(metPrompt(twice, 'go on', how)).toBeUndefined()
    expect(metPrompt(knowing('go on'), 'go on!', how)).toBeUndefined()
    expect(metPrompt(knowing('one\r\ntwo'), 'one\ntwo', how)).toHaveLength(1)
  })

  it('is not known twice by the same event, and nothing of its words is left once it was met', () => {
    const met = metPrompt(knowing('secret'), 'secret', how) ?? []
    expect(withPrompt(met, { by: '0', text: 'secret' }, how)).toBe(met)
    expect(withPrompt([], { by: '0', text: ' \n' }, how)).toEqual([])
    expect(JSON.stringify(knowing('secret'))).not.toContain('secret')
  })

  it('may be known by its beginning only, and a short one that ends in dots is not', () => {
    const long = 'x'.repeat(4_000)
    expect(metPrompt(knowing(`${long}…`), `${long} and more`, how)).toEqual([{ by: '0' }])
    expect(metPrompt(knowing(`${long}…`), `y${long}`, how)).toBeUndefined()
    expect(metPrompt(knowing('Wait…'), 'Wait for nothing', how)).toBeUndefined()
    expect(metPrompt(knowing('Wait…'), 'Wait…', how)).toEqual([{ by: '0' }])
  })

  it('is compared as it is stored: redacted, on whichever side', () => {
    const redacting = { ...how, redact: (text: string) => text.replaceAll('hunter2', '[hidden]') }
    const known = withPrompt([], { by: 'a', text: 'The key is [hidden]' }, redacting)
    expect(metPrompt(known, 'The key is hunter2', redacting)).toEqual([{ by: 'a' }])
  })

  it('is forgotten when there are too many, the oldest first', () => {
    const many = knowing(...Array.from({ length: 1_200 }, (_, index) => `prompt ${index}`))
    expect(many).toHaveLength(1_000)
    expect(metPrompt(many, 'prompt 199', how)).toBeUndefined()
    expect(metPrompt(many, 'prompt 1199', how)).toBeDefined()
  })
})
