/**
 * How long a store remembers the commands it carried out, by its own clock.
 *
 * Every implementation keeps these promises:
 * - `prune` forgets the oldest first, at most `most` of them and a thousand at most, and answers how many;
 * - a command younger than `LEAST_RETENTION_MS` is never forgotten, even if a shorter time is asked for;
 * - a command that is forgotten acts again when it is repeated; nothing else changes;
 * - several may prune at once.
 */
export interface CommandRetention {
  prune(keepMs: number, most: number): Promise<number>
  /** How many are old enough to be forgotten. */
  countPrunable(keepMs: number): Promise<number>
}
