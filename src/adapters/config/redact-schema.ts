import { defined } from '../../domain/kernel/defined.ts'
import type { ConfigurationSetting } from '../../domain/run/run-configuration.ts'
import {
  BUILT_IN_REDACTION,
  DEFAULT_REDACTION_MS,
  patternProblem,
  type RedactionSettings,
} from '../../domain/secrets/redaction-settings.ts'
import type { FileContent } from './schema.ts'
import { checkedText, commandLine, duration, flag, formOf, list, section, word } from './values.ts'

const LONGEST_MS = 60_000

const EXAMPLE = 'Write a regular expression such as "ACME-[0-9]{6,}".'

const pattern = checkedText((text) => {
  const problem = patternProblem(text)
  return problem === undefined ? undefined : { problem, advice: EXAMPLE }
}, EXAMPLE)

const switched = word(['on', 'off'])

/** Keys about secrets: a word, or what is hidden beside what is built in. */
export const redactSchema = formOf(
  (raw) => typeof raw === 'boolean' || typeof raw === 'string',
  formOf((raw) => typeof raw === 'boolean', flag, switched),
  section({
    patterns: list(pattern, '["ACME-[0-9]{6,}"]').optional(),
    command: commandLine.optional(),
    timeout: duration(LONGEST_MS).optional(),
  }),
)

/** How secrets are hidden; absent where a file says nothing of it. */
export const redactionOf = ({ redact }: Pick<FileContent, 'redact'>): RedactionSettings | undefined => {
  if (redact == null) return undefined
  if (redact === 'off' || redact === false) return { state: 'off' }
  if (redact === 'on' || redact === true) return BUILT_IN_REDACTION
  const { patterns = [], command, timeout: timeoutMs = DEFAULT_REDACTION_MS } = redact
  return defined({ state: 'on' as const, patterns, command, timeoutMs })
}

/** The settings about secrets, each with its key. */
export const redactionSettings = (
  redact: RedactionSettings | undefined,
  setting: (key: string, value: ConfigurationSetting['value'] | undefined) => ConfigurationSetting,
): readonly ConfigurationSetting[] => {
  const { state } = redact ?? BUILT_IN_REDACTION
  if (redact?.state !== 'on') return [setting('redact', state)]
  const { command } = redact
  return [
    setting('redact', state),
    setting('redact.patterns', redact.patterns.length),
    setting('redact.command', typeof command === 'string' ? command : command?.join(' ')),
    setting('redact.timeout', redact.timeoutMs),
  ]
}
