import type { Instant } from '../../domain/kernel/instant.ts'

/** Tells the time. Read once per command; only claims and leases use the store's own clock instead. */
export interface Clock {
  now(): Instant
}

/** Makes ids. Each is a UUID (version 7, so that ids sort by age), and none comes twice. */
export interface IdGenerator {
  next(): string
}
