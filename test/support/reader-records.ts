import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { agentSdkReader, statusLineReader, transcriptReader } from '../../src/entry/claude.ts'
import { execReader, rolloutReader } from '../../src/entry/codex.ts'

const FOLDER = 'test/fixtures/recordings'

/** The records of our own recordings below a folder; damaged lines are left out. */
export const recordsIn = (folder: string): readonly unknown[] =>
  readdirSync(join(FOLDER, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.jsonl'))
    .sort()
    .flatMap((name) => recordsOf(join(folder, name)))

/** The records of one of our own recordings. */
export const recordsOf = (name: string): readonly unknown[] =>
  readFileSync(join(FOLDER, name), 'utf8')
    .split('\n')
    .flatMap((line) => {
      try {
        return [JSON.parse(line) as unknown]
      } catch {
        return []
      }
    })

/** Every reader there is, with records of its runtime. */
export const READERS = [
  { reader: transcriptReader, records: recordsIn('claude-code') },
  { reader: agentSdkReader, records: recordsIn('agent-sdk') },
  { reader: statusLineReader, records: recordsIn('status-line') },
  { reader: rolloutReader, records: [...recordsOf('codex/rollout.jsonl'), ...recordsOf('codex/descendant.jsonl')] },
  { reader: execReader, records: recordsOf('codex/exec.jsonl') },
] as const
