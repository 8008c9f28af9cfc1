import { addHidden, configurationIn } from '../adapters/redaction/redaction-files.ts'
import { type Redactor, type RedactorOptions, redactorOf } from '../adapters/redaction/redactor.ts'
import {
  BUILT_IN_REDACTION,
  type RedactionCounts,
  type RedactionSettings,
} from '../domain/secrets/redaction-settings.ts'
import { readConfiguration } from './configuration.ts'

/**
 * How secrets are hidden where no configuration is named: as the person's own says, which is in the first of these private
 * folders that has one (that of the service, and the one in the home folder); else by the built-in rules.
 *
 * @throws ConfigurationError where that configuration cannot be used
 */
export const redactionIn = async (...folders: readonly string[]): Promise<RedactionSettings> => {
  const [file] = folders.flatMap((folder) => configurationIn(folder) ?? [])
  if (file === undefined) return BUILT_IN_REDACTION
  return (await readConfiguration(file)).configuration.redact ?? BUILT_IN_REDACTION
}

/** The redactor for these settings, which knows the variables of this process. */
export const redactorFor = (settings: RedactionSettings, options: Partial<RedactorOptions> = {}): Redactor =>
  redactorOf(settings, { environment: process.env, ...options })

/** Keeps how much was hidden in a folder: by a redactor since it was last asked, and by others who say so. */
export const hiddenAccount = (
  folder: string,
  { counts }: Redactor,
  onHidden: (counts: RedactionCounts) => void,
): ((byOthers?: number) => void) => {
  let before: RedactionCounts = { hidden: 0, withheld: 0 }
  return (byOthers = 0) => {
    const now = counts()
    const news = { hidden: now.hidden - before.hidden + byOthers, withheld: now.withheld - before.withheld }
    before = now
    if (news.hidden + news.withheld === 0) return
    addHidden(folder, news, new Date().toISOString())
    onHidden(news)
  }
}

export { type HiddenSoFar, readHidden, writeRules } from '../adapters/redaction/redaction-files.ts'
export type { Redactor } from '../adapters/redaction/redactor.ts'
