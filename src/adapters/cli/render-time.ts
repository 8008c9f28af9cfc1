import type { Instant } from '../../domain/kernel/instant.ts'

/** A moment for a table, in UTC to the minute. */
export const minute = (at: Instant): string => at.slice(0, 16).replace('T', ' ')
