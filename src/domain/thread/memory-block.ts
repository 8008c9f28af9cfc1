import type { Instant } from '../kernel/instant.ts'

/** The lines that enclose the block in a memory file. */
export interface BlockMarkers {
  readonly begin: string
  readonly end: string
}

/** A summary in the block: whose it is, and until when it may stay. */
export interface HeldBlock {
  /** The external key of the child conversation that the summary is for. */
  readonly threadKey: string
  /** The conversation that the summary is of. */
  readonly sourceThreadId: string
  readonly expiresAt: Instant
  readonly summary: string
}

/** The state of the block in a memory file. */
export type MemoryBlock =
  /** There are no markers: the block has to be inserted. */
  | { readonly state: 'absent' }
  /** The placeholder, or nothing. */
  | { readonly state: 'free' }
  /** A summary of ours. */
  | { readonly state: 'held'; readonly held: HeldBlock }
  /** Text between the markers that we did not write. Never overwritten; a reader takes it as no context. */
  | { readonly state: 'foreign' }
