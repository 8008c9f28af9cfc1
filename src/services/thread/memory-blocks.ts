import { describeThrown } from '../../domain/kernel/describe-thrown.ts'
import { err, ok, type Result } from '../../domain/kernel/result.ts'
import { hasSummary } from '../../domain/memory-block/block-content.ts'
import { type BlockRefusal, describeBlockRefusal } from '../../domain/memory-block/block-refusal.ts'
import {
  type BlockEnd,
  fillBlock,
  type HeldBlock,
  insertBlock,
  type MemoryBlock,
  readBlock,
  resetBlock,
} from '../../domain/memory-block/memory-block.ts'
import type { ThreadPlace } from '../../domain/thread/thread-draft.ts'
import type { MemoryFile } from '../../ports/terminal/memory-file.ts'
import type { ThreadDeps } from './thread-deps.ts'

/** A memory file by habit: no agent in particular reads it. */
const ANY_AGENT = 'agent.md'

/** The block that was found in a memory file. */
export type FoundBlock =
  | MemoryBlock
  /** A summary of ours is in the file, and cannot be taken out: its markers are gone, or the file cannot be used. */
  | { readonly state: 'broken'; readonly problem: string }

/** The blocks in the memory files of workspaces. */
export class MemoryBlocks {
  readonly #deps: Pick<ThreadDeps, 'files' | 'memoryFiles' | 'clock' | 'logger' | 'settings'>

  constructor(deps: Pick<ThreadDeps, 'files' | 'memoryFiles' | 'clock' | 'logger' | 'settings'>) {
    this.#deps = deps
  }

  file({ workspace, file }: ThreadPlace): MemoryFile {
    return this.#deps.files.open(workspace, file)
  }

  /** Puts a summary into the block. @returns whether anything was written: the thread may have had it before */
  async fill(place: ThreadPlace, held: HeldBlock): Promise<Result<boolean, BlockRefusal>> {
    const { markers } = this.#deps.settings
    const now = this.#deps.clock.now()
    const changed = await this.file(place).change((text) => fillBlock(text ?? '', held, now, markers))
    return changed.ok ? ok(changed.value.isWritten) : changed
  }

  /** Inserts an empty block. @returns whether anything was written */
  async insert(place: ThreadPlace): Promise<Result<boolean, BlockRefusal>> {
    const { markers } = this.#deps.settings
    const changed = await this.file(place).change((text) => insertBlock(text ?? '', markers))
    return changed.ok ? ok(changed.value.isWritten) : changed
  }

  /** Takes a summary out of the block, if it is this thread's or is over. @returns whether anything was written */
  async reset(place: ThreadPlace, end: BlockEnd): Promise<Result<boolean, BlockRefusal>> {
    const { markers } = this.#deps.settings
    const changed = await this.file(place).change<BlockRefusal | 'gone'>((text) =>
      text === undefined ? err('gone') : resetBlock(text, end, markers),
    )
    if (changed.ok) return ok(changed.value.isWritten)
    return changed.error === 'gone' ? ok(false) : err(changed.error)
  }

  /** The block of a file. A summary of ours is seen wherever it is in the file, so that it is never left to leak. */
  async look(place: ThreadPlace): Promise<FoundBlock> {
    const found = await this.#textOf(place)
    if (found === undefined) return { state: 'absent' }
    if ('problem' in found) return { state: 'broken', problem: found.problem }
    const { text } = found
    const read = readBlock(text, this.#deps.settings.markers)
    if (!hasSummary(text)) return read.ok ? read.value : { state: 'foreign' }
    if (!read.ok) return { state: 'broken', problem: describeBlockRefusal(read.error) }
    return read.value.state === 'held' ? read.value : { state: 'broken', problem: OUTSIDE }
  }

  /** The places of a workspace where a block may be. */
  placesIn(workspace: string): readonly ThreadPlace[] {
    const { file } = this.#deps.settings
    const names = new Set<string>([...(file === undefined ? [] : [file]), ...this.#deps.memoryFiles, ANY_AGENT])
    return [...names].map((name) => ({ workspace, file: name }))
  }

  /** The text of a file, or why a summary of ours in it cannot be reached; nothing when there is no file, or none of ours. */
  async #textOf(place: ThreadPlace): Promise<{ readonly text: string } | { readonly problem: string } | undefined> {
    try {
      const text = await this.file(place).read()
      return text === undefined ? undefined : { text }
    } catch (error) {
      const problem = describeThrown(error)
      if (await this.#isIn(place)) return { problem }
      this.#deps.logger.debug({ ...place, problem }, 'a memory file was skipped')
      return undefined
    }
  }

  async #isIn(place: ThreadPlace): Promise<boolean> {
    try {
      const raw = await this.file(place).glance()
      return raw !== undefined && hasSummary(raw)
    } catch {
      return false // nobody can read it, so no agent does
    }
  }
}

const OUTSIDE =
  'A summary of an earlier thread is in the file, but not in the block where it was put: the lines around it were changed, ' +
  'or other markers are configured. Delete it there'
