import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { TranscriptStep } from '../../../ports/agent/agent-runtime.ts'
import { rolloutReader } from '../readers/rollout-reader.ts'
import { RolloutTail } from '../readers/rollout-tail.ts'
import { rolloutWords } from '../readers/rollout-words.ts'

/** How many days with sessions are looked through, from the newest on. */
export interface SearchLimit {
  readonly days: number
}

/** Where Codex keeps the record of a thread, if it keeps one yet. Named by day and thread: `Y/M/D/rollout-…-<thread>.jsonl`. */
export const findRollout = async (home: string, thread: string, { days }: SearchLimit): Promise<string | undefined> => {
  let left = days
  for await (const folder of foldersIn(join(home, 'sessions'), 3)) {
    if (left === 0) return undefined
    left -= 1
    const found = (await namesIn(folder)).find((name) => isOf(name, thread))
    if (found !== undefined) return join(folder, found)
  }
  return undefined
}

const isOf = (name: string, thread: string): boolean =>
  name.startsWith('rollout-') && name.endsWith(`-${thread}.jsonl`) && thread !== ''

/** The folders some levels down, newest first: they are named by numbers of a fixed width. */
async function* foldersIn(folder: string, levels: number): AsyncGenerator<string> {
  if (levels === 0) return yield folder
  for (const name of await namesIn(folder)) {
    if (/^\d+$/.test(name)) yield* foldersIn(join(folder, name), levels - 1)
  }
}

const namesIn = async (folder: string): Promise<readonly string[]> => {
  try {
    return (await readdir(folder)).sort().reverse()
  } catch (error) {
    if (isAbsent(error)) return []
    throw error
  }
}

const isAbsent = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ENOTDIR')

/** Whether anything was said in a thread. */
export const hasBeenSpokenIn = async (path: string): Promise<boolean> => {
  for await (const record of new RolloutTail(path).records()) {
    if ((record as { readonly type?: unknown } | null)?.type === 'response_item') return true
  }
  return false
}

/** Codex's own record of a thread, in order. Empty when it keeps none. */
export async function* writtenIn(home: string, thread: string): AsyncGenerator<TranscriptStep, void> {
  try {
    const path = await findRollout(home, thread, { days: Number.POSITIVE_INFINITY })
    if (path === undefined) return
    for await (const record of new RolloutTail(path).records())
      yield { events: rolloutReader.read(record), texts: rolloutWords(record).texts }
  } catch {
    // A record that cannot be read says nothing more.
  }
}
