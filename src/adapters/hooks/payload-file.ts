import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PREFIX, sweepPayloads } from './sweep-payloads.ts'

/** The variable that names the file of the payload, for commands that cannot hold JSON in a variable. */
export const PAYLOAD_FILE_VARIABLE = 'BATONPASS_HOOK_PAYLOAD_FILE'

/** The payload of a hook as a file of its owner, in a folder of its own, until it is disposed of. */
export interface PayloadFile extends Disposable {
  readonly path: string
}

/** Folders of this process that are still there; one that exits in a hurry takes them with it. */
const there = new Set<string>()
let hasSwept = false

const remove = (folder: string): void => {
  rmSync(folder, { recursive: true, force: true })
  there.delete(folder)
}

const removeAll = (): void => {
  for (const folder of there) remove(folder)
}

/** Writes the payload of a hook: 0600 in a fresh folder of 0700. The first one also sweeps what killed processes left. */
export const payloadFile = (payload: string): PayloadFile => {
  if (!hasSwept) process.on('exit', removeAll)
  if (!hasSwept) sweepPayloads(tmpdir())
  hasSwept = true
  const folder = mkdtempSync(join(tmpdir(), `${PREFIX}${process.pid}-`)) // which makes it 0700
  there.add(folder)
  try {
    const path = join(folder, 'payload.json')
    writeFileSync(path, payload, { mode: 0o600, flag: 'wx' })
    return { path, [Symbol.dispose]: () => remove(folder) }
  } catch (error) {
    remove(folder)
    throw error
  }
}
