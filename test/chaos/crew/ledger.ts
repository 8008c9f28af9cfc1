import { closeSync, fdatasyncSync, openSync, readdirSync, readFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import type { MoveName } from './moves.ts'

/** One line of a client's log. What was asked is on disk before it is asked, and what was answered once it is. */
export type LedgerLine =
  | { readonly is: 'invoke'; readonly id: string; readonly move: MoveName }
  /** Answered yes. `keeps` says whether something must be stored; `names` are the ids that the answer spoke of. */
  | {
      readonly is: 'ok'
      readonly id: string
      readonly move: MoveName
      readonly keeps: boolean
      readonly names: readonly string[]
    }
  | { readonly is: 'refused'; readonly id: string; readonly move: MoveName; readonly code: string }
  /** A failure with a code: whether it was kept is not known. */
  | { readonly is: 'failed'; readonly id: string; readonly move: MoveName; readonly code: string }
  /** Something that must never come: an error without a code, or another answer to the same command. */
  | { readonly is: 'broken'; readonly id: string; readonly move: MoveName; readonly what: string }

/** Where a client's log goes. */
export interface Log {
  write(line: LedgerLine): void
}

/** Writes a client's log, line by line, each on disk before the next step. */
export class Ledger implements Log, Disposable {
  readonly #file: number

  constructor(path: string) {
    this.#file = openSync(path, 'a')
  }

  write(line: LedgerLine): void {
    writeSync(this.#file, `${JSON.stringify(line)}\n`)
    fdatasyncSync(this.#file)
  }

  [Symbol.dispose](): void {
    closeSync(this.#file)
  }
}

/** The lines of every client in a folder. A last line that a killed client did not finish is left out. */
export const readLedgers = (folder: string): readonly LedgerLine[] =>
  readdirSync(folder)
    .filter((name) => name.endsWith('.log'))
    .sort()
    .flatMap((name) => {
      const text = readFileSync(join(folder, name), 'utf8')
      const whole = text.slice(0, text.lastIndexOf('\n') + 1)
      return whole
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => JSON.parse(line) as LedgerLine)
    })
