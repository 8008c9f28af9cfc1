/**
 * Whether somebody works on a session: its lease lasts, it is over, its process ended before that, or its holder never
 * said until when to expect it.
 */
export type HolderState = 'held' | 'over' | 'gone' | 'unleased'
