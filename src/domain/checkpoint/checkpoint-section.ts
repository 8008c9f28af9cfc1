import { headingsNamed } from './heading.ts'

/**
 * The sections a checkpoint is asked for, in this order.
 *
 * @example
 * ```ts
 * console.log(CHECKPOINT_SECTIONS.length, CHECKPOINT_SECTIONS[4]) // => 8 Do not redo
 * ```
 */
export const CHECKPOINT_SECTIONS = [
  'Goal',
  'Completed work',
  'Current state',
  'Remaining tasks',
  'Do not redo',
  'Key decisions',
  'Open issues',
  'Files changed',
] as const

/** One of the sections a checkpoint is asked for. */
export type CheckpointSection = (typeof CHECKPOINT_SECTIONS)[number]

/** The heading of a section that a line is, if it is one. */
export const headingIn = headingsNamed(CHECKPOINT_SECTIONS)
