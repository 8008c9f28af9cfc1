import { describe, expect, it } from 'vitest'
import { TEXT_NOT_LOOKED_AT } from '../../src/domain/secrets/hidden-text.ts'
import { createBatonpass, unwrap } from '../../src/entry/index.ts'
import { readConfiguration } from '../../src/main/configuration.ts'
import { redactorFor } from '../../src/main/redaction.ts'

const KEY = `ghp_${'a1B2'.repeat(9)}`

const redactor = (more: { patterns?: readonly string[]; command?: string | readonly string[]; timeoutMs?: number }) => {
  const why: string[] = []
  const settings = { state: 'on' as const, patterns: [], timeoutMs: 60_000, ...more }
  return { ...redactorFor(settings, { environment: {}, onWithheld: (reason) => why.push(reason) }), why }
}

const node = (code: string): readonly string[] => [process.execPath, '-e', code]

describe('patterns of one’s own', () => {
  it('are hidden beside what is built in, and change nothing a second time', () => {
    const { redact, counts } = redactor({ patterns: ['ACME-[0-9]+', 'hidden', 'pattern'] })
    const once = redact(`${KEY} and ACME-1, hidden`)
    expect(once).toBe('[hidden:key] and [hidden:pattern], [hidden:pattern]')
    expect(redact(once)).toBe(once)
    expect(counts()).toEqual({ hidden: 3, withheld: 0 })
  })

  it('that take too long mean a text that is withheld whole, never one that is kept raw, and never a hang', () => {
    const { redact, counts, why } = redactor({ patterns: ['(a+)+$'], timeoutMs: 50 })
    const text = `${'a'.repeat(60)}! ${KEY}`
    expect(redact(text)).toBe(TEXT_NOT_LOOKED_AT)
    expect(redact(TEXT_NOT_LOOKED_AT)).toBe(TEXT_NOT_LOOKED_AT)
    expect(counts()).toMatchObject({ withheld: 1 })
    expect(why).toEqual(['a pattern took longer than 50 ms'])
  })
})

describe('a command of one’s own', () => {
  it('gets the text without the secrets that are known, and its answer is kept', () => {
    const command = node(
      'let t = ""; process.stdin.on("data", (d) => (t += d)).on("end", () => process.stdout.write(t.replaceAll("Bob", "***")))',
    )
    const { redact, why } = redactor({ command })
    expect(redact(`Bob has ${KEY}`)).toBe('*** has [hidden:key]')
    expect(why).toEqual([])
  })

  it.each([
    ['fails', 'process.exit(3)', 'the command ended with 3'],
    ['says nothing', '', 'the command wrote nothing'],
    ['takes too long', 'setInterval(() => {}, 1000)', 'the command took longer than 2000 ms'],
  ])('that %s means a text that is withheld, and a reason that holds none of it', (_, code, reason) => {
    const { redact, counts, why } = redactor({ command: node(code), timeoutMs: 2_000 })
    expect(redact('Bob lives in Rome')).toBe(TEXT_NOT_LOOKED_AT)
    expect(counts()).toEqual({ hidden: 0, withheld: 1 })
    expect(why).toEqual([reason])
  })

  it('that is not there means a text that is withheld', () => {
    const { redact, why } = redactor({ command: ['no-such-program-of-batonpass'] })
    expect(redact('Bob lives in Rome')).toBe(TEXT_NOT_LOOKED_AT)
    expect(why).toEqual(['the command could not be run (ENOENT)'])
  })
})

describe('what is hidden is counted', () => {
  it('once for a text, however often it is stored, logged and told', () => {
    const { redact, redactAll, counts } = redactor({})
    for (let i = 0; i < 3; i += 1) redact(`key ${KEY}`)
    expect(redactAll({ said: [`key ${KEY}`], at: 1 })).toEqual({ said: ['key [hidden:key]'], at: 1 })
    expect(counts()).toEqual({ hidden: 1, withheld: 0 })
  })
})

describe('a configuration', () => {
  it.each([
    [{ redact: { patterns: ['(['] } }, 'redact.patterns[0]: it is not a regular expression'],
    [{ redact: { patterns: ['a*'] } }, 'redact.patterns[0]: it matches the empty text, and would hide everything'],
    [{ redact: { pattern: ['a'] } }, 'redact.pattern: there is no such key'],
    [{ redact: 'of' }, 'redact: "of" is not known'],
    [{ redact: { timeout: '2h' } }, 'redact.timeout: "2h" is too long'],
  ])('that cannot be used is refused, before anything starts: %j', async (config, problem) => {
    await expect(readConfiguration(config)).rejects.toThrow(problem)
    await expect(createBatonpass({ store: 'memory', config })).rejects.toThrow(problem)
  })

  it.each([
    [{ redact: 'off' }, `Use ${KEY} and ACME-123456`],
    [{ redact: false }, `Use ${KEY} and ACME-123456`],
    [{ redact: 'on' }, 'Use [hidden:key] and ACME-123456'],
    [{ redact: { patterns: ['ACME-[0-9]{6}'] } }, 'Use [hidden:key] and [hidden:pattern]'],
    // A library hides nothing that its program did not ask to hide.
    [{}, `Use ${KEY} and ACME-123456`],
  ])('says what a library hides: %j', async (config, kept) => {
    await using batonpass = await createBatonpass({ store: 'memory', config })
    const asked = { originalTask: `Use ${KEY} and ACME-123456` }
    const { conversation } = unwrap(await batonpass.handoffs.openConversation(asked))
    expect(conversation.originalTask).toBe(kept)
  })
})
