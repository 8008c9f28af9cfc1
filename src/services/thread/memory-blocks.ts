import { describeThrown } from '../../domain/kernel/describe-thrown.ts'
import { err, ok, type Result } from '../../domain/kernel/result.ts'
import { type BlockRefusal, describeBlockRefusal } from '../../domain/thread/block-refusal.ts'
import {
  type BlockEnd,
  fillBlock,
  type HeldBlock,
  insertBlock,
  type MemoryBlock,
  readBlock,
  resetBlock,
} from '../../domain/thread/memory-block.ts'
import type { ThreadPlace } from '../../domain/thread/thread-draft.ts'
import type { MemoryFile } from '../../ports/memory-file.ts'
import type { ThreadDeps } from './thread-deps.ts'

/** The names that agents read a memory file under. */
export const USUAL_FILES = ['CLAUDE.md', 'CLAUDE.local.md', 'AGENTS.md', 'agent.md'] as const

/** The words that only a summary of ours has, whatever became of the markers around it. */
const OURS = '<!-- batonpass thread='

/** The block that was found in a memory file. */
export type FoundBlock =
  | MemoryBlock
  /** A summary of ours is in it, and the markers are no longer one pair. */
  | { readonly state: 'broken'; readonly problem: string }

/** The blocks in the memory files of workspaces. */
export class MemoryBlocks {
  readonly #deps: Pick<ThreadDeps, 'files' | 'clock' | 'logger' | 'settings'>

  constructor(deps: Pick<ThreadDeps, 'files' | 'clock' | 'logger' | 'settings'>) {
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

  /** The block of a file. A file that we may not read never had one of ours. */
  async look(place: ThreadPlace): Promise<FoundBlock> {
    const text = await this.#textOf(place)
    if (text === undefined) return { state: 'absent' }
    const read = readBlock(text, this.#deps.settings.markers)
    if (read.ok) return read.value
    return text.includes(OURS) ? { state: 'broken', problem: describeBlockRefusal(read.error) } : { state: 'foreign' }
  }

  /** The places of a workspace where a block may be. */
  placesIn(workspace: string): readonly ThreadPlace[] {
    const { file } = this.#deps.settings
    const names = new Set<string>([...(file === undefined ? [] : [file]), ...USUAL_FILES])
    return [...names].map((name) => ({ workspace, file: name }))
  }

  async #textOf(place: ThreadPlace): Promise<string | undefined> {
    try {
      return await this.file(place).read()
    } catch (error) {
      this.#deps.logger.debug({ ...place, problem: describeThrown(error) }, 'a memory file was skipped')
      return undefined
    }
  }
}
