import { onOneLine } from '../../../domain/kernel/safe-text.ts'
import type { ConfigurationProblem, ConfigurationSetting } from '../../../domain/run/run-configuration.ts'
import { textOfSpans } from '../terminal/style.ts'
import { plain } from './text.ts'
import { TextTable } from './text-table.ts'

/** Sentences beside the settings. */
export interface ConfigurationWords {
  /** Sentences about a window that fills up. */
  readonly fullWindow: readonly string[]
  readonly remarks: readonly string[]
  /** The line that names the schema of the file, where it has none and there is one. */
  readonly schemaLine?: string
}

/** Every setting in force with the key it comes from, what they mean for a full window, and what is worth a second look. */
export const renderConfiguration = (
  file: string,
  settings: readonly ConfigurationSetting[],
  { fullWindow, remarks, schemaLine }: ConfigurationWords,
  width?: number,
): string => {
  const columns = [
    { title: 'SETTING', of: ({ key }: ConfigurationSetting) => key, most: 48 },
    { title: 'VALUE', of: valueText, most: 30 },
    { title: 'FROM', of: ({ from }: ConfigurationSetting) => from },
  ]
  const table = new TextTable(columns, settings, width)
  return [
    `${onOneLine(file)} can be used.`,
    '',
    textOfSpans(table.header()),
    ...settings.map((setting) => textOfSpans(table.row(setting))),
    '',
    'When a window fills up:',
    ...fullWindow.map((line) => `  ${plain(line)}`),
    ...(schemaLine === undefined
      ? []
      : ['', 'For editors, the first line of the file may name its schema:', `  ${plain(schemaLine)}`]),
    ...(remarks.length === 0 ? [] : ['', ...remarks.map((remark) => `Note: ${plain(remark)}`)]),
  ].join('\n')
}

/** Every problem: where, what is wrong, and below it what to do. Names come from the file, and are shown as they are. */
export const renderProblems = (problems: readonly ConfigurationProblem[], file?: string): string =>
  problems
    .map(({ path, problem, advice, line }) => {
      const inFile = file && `${file}${line === undefined ? '' : `:${line}`}`
      const place = inFile ?? (line === undefined ? undefined : `line ${line}`)
      const parts = [place, path === '' ? undefined : path, problem].filter((part) => part !== undefined)
      return `${onOneLine(parts.join(': '))}.\n  ${onOneLine(advice)}`
    })
    .join('\n')

/** The meaning of null depends on the setting. */
const valueText = ({ key, value }: ConfigurationSetting): string => {
  if (value === null && TEXTS.has(key)) return 'built-in'
  if (value === false && TEXTS.has(key)) return 'off'
  if (value === null && key === 'restart.person_words_tokens') return '10 %'
  if (value === null) return /(^|\.)milestones\.[^.]+$/.test(key) ? 'off' : 'none'
  return isDuration(key) && typeof value === 'number' ? durationText(value) : String(value)
}

const TEXTS: ReadonlySet<string> = new Set(['restart.template', 'restart.continuation', 'restart.soft_landing'])

const DURATIONS: ReadonlySet<string> = new Set([
  'restart.deadline',
  'restart.idle_timeout',
  'restart.checkpoint_timeout',
  'threads.expires',
  'commands.retention',
  'redact.timeout',
])

const isDuration = (key: string): boolean => DURATIONS.has(key) || key.endsWith('session.timeout')

const UNITS = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['m', 60_000],
  ['s', 1_000],
] as const

const durationText = (ms: number): string => {
  const unit = UNITS.find(([, size]) => ms % size === 0)
  return unit === undefined ? `${ms}ms` : `${ms / unit[1]}${unit[0]}`
}
