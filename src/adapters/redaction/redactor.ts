import { spawnSync } from 'node:child_process'
import { hiddenInAll, SHORTEST_SECRET, TEXT_NOT_LOOKED_AT } from '../../domain/secrets/hidden-text.ts'
import { hideSecrets } from '../../domain/secrets/hide-secrets.ts'
import type { RedactionCounts, RedactionSettings } from '../../domain/secrets/redaction-settings.ts'
import { secretValuesIn } from '../../domain/secrets/secret-variables.ts'
import { sha256 } from '../../ports/system/sha256.ts'
import { ownPatterns } from './own-patterns.ts'

/** Hides the secrets in texts, and counts them. */
export interface Redactor {
  /** The text without its secrets. Always the same for the same text, and nothing is changed by a second time. */
  readonly redact: (text: string) => string
  /** The same data, with every text in it put through `redact`. */
  readonly redactAll: <T>(value: T) => T
  readonly counts: () => RedactionCounts
}

/** The surroundings of a redactor. */
export interface RedactorOptions {
  /** The values of its secret-looking variables are hidden too. */
  readonly environment: Readonly<Record<string, string | undefined>>
  /** Is told that a text was withheld, and why; never what it said. */
  readonly onWithheld?: (why: string) => void
}

/** So many texts are remembered: the same one is stored, logged and told, and its secrets are counted once. */
const REMEMBERED = 512

/** After so many failures in a row the rules of the person are not tried for a while: each may cost its whole time. */
const MOST_FAILURES = 3
const PAUSE_MS = 10_000

const utf8 = new TextEncoder()

/** The redactor for these settings. @throws TypeError for a pattern that cannot be used */
export const redactorOf = (settings: RedactionSettings, options: RedactorOptions): Redactor => {
  if (settings.state === 'off') return NO_REDACTOR
  const values = secretValuesIn(options.environment)
  const { patterns, command, timeoutMs } = settings
  const more = patterns.length === 0 ? undefined : ownPatterns(patterns, timeoutMs)
  const remembered = new Map<string, string>()
  const isBuiltInOnly = more === undefined && command === undefined
  let [hidden, withheld, failures, pausedUntil] = [0, 0, 0, 0]
  const looked = (text: string, isFiltered: boolean): string => {
    if (performance.now() < pausedUntil) throw new Error('the rules of the configuration have failed several times')
    const found = hideSecrets(text, { values, ...(more && { more }) })
    const shown =
      command === undefined || !isFiltered || found.text.trim() === ''
        ? found.text
        : filtered(found.text, command, timeoutMs)
    hidden += hiddenInAll(found.hidden)
    failures = 0
    return shown
  }
  const hide = (text: string, isFiltered = true): string => {
    if (text === TEXT_NOT_LOOKED_AT || text.length < (isBuiltInOnly ? SHORTEST_SECRET : 1)) return text
    const key = digestOf(text)
    const earlier = remembered.get(key)
    if (earlier !== undefined) return earlier
    let shown: string
    try {
      shown = looked(text, isFiltered)
    } catch (error) {
      // Our own words: what a program said of the text might hold it.
      failures += 1
      if (failures >= MOST_FAILURES && performance.now() >= pausedUntil) pausedUntil = performance.now() + PAUSE_MS
      options.onWithheld?.(error instanceof Error ? error.message : 'unknown')
      shown = TEXT_NOT_LOOKED_AT
    }
    if (shown === TEXT_NOT_LOOKED_AT) withheld += 1
    if (isFiltered) for (const one of [key, digestOf(shown)]) remember(remembered, one, shown)
    return shown
  }
  const redact = (text: string): string => hide(text)
  // A name or an id is one word: a program of its own for each would take longer than the work.
  const each = (text: string): string => hide(text, /\s/.test(text))
  return { redact, redactAll: (value) => allTexts(value, each), counts: () => ({ hidden, withheld }) }
}

const digestOf = (text: string): string => Buffer.from(sha256(utf8.encode(text))).toString('base64')

const remember = (remembered: Map<string, string>, key: string, shown: string): void => {
  remembered.set(key, shown)
  const [oldest] = remembered.keys()
  if (remembered.size > REMEMBERED && oldest !== undefined) remembered.delete(oldest)
}

const allTexts = <T>(value: T, redact: (text: string) => string): T => {
  const walk = (part: unknown): unknown => {
    if (typeof part === 'string') return redact(part)
    if (typeof part !== 'object' || part === null) return part
    if (Array.isArray(part)) return part.map(walk)
    if (part instanceof Date || ArrayBuffer.isView(part)) return part
    if (part instanceof Error) return redact(`${part.name}: ${part.message}`)
    return Object.fromEntries(Object.entries(part).map(([name, each]) => [name, walk(each)]))
  }
  return walk(value) as T
}

const NO_REDACTOR: Redactor = {
  redact: (text) => text,
  redactAll: (value) => value,
  counts: () => ({ hidden: 0, withheld: 0 }),
}

/** A program may say more than it was given, and not without end. */
const MOST_BYTES = 64 * 1024 * 1024

/**
 * A text as a person's own program lets it through: it reads the text from its standard input and writes it without its
 * secrets. It is waited for, because nothing may be stored before. What it says on standard error is nobody's business.
 *
 * @throws where it fails, or takes too long
 */
const filtered = (text: string, command: string | readonly string[], timeoutMs: number): string => {
  const [program = '', ...words] = typeof command === 'string' ? [command] : command
  const { status, signal, error, stdout } = spawnSync(program, words, {
    input: text,
    encoding: 'utf8',
    timeout: timeoutMs,
    killSignal: 'SIGKILL',
    maxBuffer: MOST_BYTES,
    shell: typeof command === 'string',
    stdio: ['pipe', 'pipe', 'ignore'],
    windowsHide: true,
  })
  const { code } = (error ?? {}) as NodeJS.ErrnoException
  if (code === 'ETIMEDOUT') throw new Error(`the command took longer than ${timeoutMs} ms`)
  if (error !== undefined) throw new Error(`the command could not be run (${code ?? 'unknown'})`)
  if (status !== 0) throw new Error(`the command ended with ${status ?? signal}`)
  if (stdout.trim() === '' && text.trim() !== '') throw new Error('the command wrote nothing')
  // Many programs end their last line whether or not it was ended.
  return stdout.endsWith('\n') && !text.endsWith('\n') ? stdout.slice(0, -1) : stdout
}
