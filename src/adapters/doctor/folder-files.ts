import { lstatSync, opendirSync } from 'node:fs'
import { join } from 'node:path'

/** The most names of a folder that are looked at. */
const MOST_NAMES = 10_000

/** A file in a folder, and when it was last written. */
export interface ListedFile {
  readonly name: string
  readonly path: string
  readonly changedAt: number
}

/** The files of a folder; none where it is missing or may not be read. */
export const filesIn = (folder: string, isWanted: (name: string) => boolean = () => true): readonly ListedFile[] => {
  const names: string[] = []
  try {
    const opened = opendirSync(folder)
    try {
      for (let found = opened.readSync(); found !== null && names.length < MOST_NAMES; found = opened.readSync())
        if (isWanted(found.name)) names.push(found.name)
    } finally {
      opened.closeSync()
    }
  } catch {
    return names.flatMap(() => [])
  }
  return names.flatMap((name) => {
    const path = join(folder, name)
    const changedAt = lstatSync(path, { throwIfNoEntry: false })?.mtimeMs
    return changedAt === undefined ? [] : [{ name, path, changedAt }]
  })
}

/** A length of time for a person. */
export const lengthText = (ms: number): string => {
  const [size, unit] = UNITS.find(([each]) => ms >= each) ?? [1_000, 's']
  return `${Math.max(0, Math.floor(ms / size))} ${unit}`
}

const UNITS = [
  [86_400_000, 'd'],
  [3_600_000, 'h'],
  [60_000, 'min'],
  [1_000, 's'],
] as const
