import { randomUUID } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { MemoryFileFailure } from '../../ports/terminal/memory-file.ts'
import type { Place } from './place.ts'

/** Keeps bytes that have no name any more in a file beside the one they were meant for. @returns the failure that names it */
export const rescue = ({ target }: Place, bytes: Buffer, cause: unknown): MemoryFileFailure => {
  const beside = `${target}.rescued-${randomUUID().slice(0, 8)}`
  writeFileSync(beside, bytes, { flag: 'wx', mode: 0o600, flush: true })
  const problem = `Two programs wrote to ${target} while it was replaced.`
  return new MemoryFileFailure(
    'memory_file.conflict',
    `${problem} The text of one of them is in ${beside}: merge it by hand.`,
    { cause },
  )
}
