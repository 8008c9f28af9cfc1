import { mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import type { Finding } from '../../src/ports/system/health-check.ts'

/** A folder for a test, gone after it. */
export const folder = (): string => {
  const made = mkdtempSync(join(tmpdir(), 'batonpass-doctor-'))
  onTestFinished(() => rmSync(made, { recursive: true, force: true, maxRetries: 10 }))
  return made
}

/** Writes a file for its owner alone, with the folders it needs, and answers with its path. */
export const write = (path: string, content: unknown): string => {
  mkdirSync(join(path, '..'), { recursive: true })
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content), { mode: 0o600 })
  return path
}

/** Makes a file look as if it was written so long ago. */
export const age = (path: string, ms: number): void =>
  utimesSync(path, new Date(Date.now() - ms), new Date(Date.now() - ms))

/** How each finding came out. */
export const results = (findings: readonly Finding[]): readonly string[] => findings.map(({ result }) => result)
