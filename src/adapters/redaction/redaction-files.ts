import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { RedactionCounts, RedactionSettings } from '../../domain/secrets/redaction-settings.ts'
import { writeWhole } from '../files/whole-file.ts'

/** The configuration of a person, in the private folder of the service. */
export const configurationIn = (folder: string): string | undefined =>
  ['config.yaml', 'config.yml', 'config.json'].map((name) => join(folder, name)).find((file) => existsSync(file))

/**
 * Tells hooks how secrets are hidden: a hook is a process of a moment and reads no configuration. Whether there are more
 * rules than the built-in ones is enough: then what only a hook knows is not written to the spool.
 */
export const writeRules = (folder: string, settings: RedactionSettings): void => {
  const { state } = settings
  const hasOwnRules = settings.state === 'on' && (settings.patterns.length > 0 || settings.command !== undefined)
  writeJson(folder, 'redact.json', { v: 1, state, hasOwnRules })
}

/** How much was hidden since this folder has a service. */
export interface HiddenSoFar extends RedactionCounts {
  readonly since: string
}

/** The count of what was hidden. Absent where no service has hidden anything, or the file is no use. */
export const readHidden = (folder: string): HiddenSoFar | undefined => {
  try {
    const found = JSON.parse(readFileSync(join(folder, 'hidden.json'), 'utf8')) as Partial<HiddenSoFar> | null
    const { hidden, withheld, since } = found ?? {}
    if (typeof hidden !== 'number' || typeof withheld !== 'number' || typeof since !== 'string') return undefined
    return { hidden, withheld, since }
  } catch {
    return undefined
  }
}

/** Adds to how much was hidden. */
export const addHidden = (folder: string, { hidden, withheld }: RedactionCounts, now: string): void => {
  const before = readHidden(folder) ?? { hidden: 0, withheld: 0, since: now }
  const sum = { hidden: before.hidden + hidden, withheld: before.withheld + withheld, since: before.since }
  writeJson(folder, 'hidden.json', { v: 1, ...sum })
}

const writeJson = (folder: string, name: string, content: object): void => {
  writeWhole(join(folder, name), `${JSON.stringify(content)}\n`)
}
