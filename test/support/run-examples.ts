import { appendFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { format } from 'node:util'

/** What became of one example. */
export interface Ran {
  readonly file: string
  readonly printed: string
  readonly problem?: string
}

/** Imports one example, and keeps what it prints. */
const runExample = async (file: string): Promise<Ran> => {
  const lines: string[] = []
  const print = (...values: readonly unknown[]): void => {
    lines.push(format(...values))
  }
  Object.assign(console, { log: print, info: print, warn: print, error: print, table: print })
  try {
    await import(pathToFileURL(resolve(file)).href)
    return { file, printed: lines.join('\n') }
  } catch (problem) {
    return { file, printed: lines.join('\n'), problem: String(problem) }
  }
}

// One line per example as it ends, so that one that never ends is known by its missing line.
for (const file of process.argv.slice(2)) appendFileSync('ran.jsonl', `${JSON.stringify(await runExample(file))}\n`)
