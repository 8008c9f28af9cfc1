import { levelOf } from '../../../domain/window/window-level.ts'
import type { SessionNow } from '../../../services/history/work-status.ts'

const BLOCKS = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'] as const
/** Stands for a time at which nobody knew the level, such as a compaction. */
const GAP = '·'
/** More than a line has room for. */
const MOST = 60

/** One cell for each level: an eighth of the window a step, and full from there on. */
const cellOf = (ratio: number | undefined): string =>
  ratio === undefined ? GAP : (BLOCKS[Math.min(BLOCKS.length - 1, Math.floor(ratio * BLOCKS.length))] ?? GAP)

/** The levels of windows over time, as far as a watch has seen them. A level that stays the same is one cell. */
export class LevelTrails {
  #seen = new Map<string, readonly (number | undefined)[]>()

  /** Takes one look. Sessions that are not in it any more are forgotten. */
  see(sessions: readonly SessionNow[]): void {
    this.#seen = new Map(sessions.map((now) => [now.session.id, this.#with(now)]))
  }

  /** The newest levels of a session, oldest first, in so many cells at most. */
  of({ session }: SessionNow, cells: number): string {
    const seen = this.#seen.get(session.id) ?? []
    return seen.slice(-cells).map(cellOf).join('')
  }

  #with({ session, monitor }: SessionNow): readonly (number | undefined)[] {
    const level = levelOf(monitor)
    const ratio = level.state === 'known' ? level.ratio : undefined
    const before = this.#seen.get(session.id) ?? []
    // Before the first reading there is nothing to draw.
    if (before.length === 0) return ratio === undefined ? [] : [ratio]
    return before.at(-1) === ratio ? before : [...before, ratio].slice(-MOST)
  }
}
