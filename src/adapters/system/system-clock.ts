import { instant } from '../../domain/instant.ts'
import type { Clock } from '../../ports/system.ts'

/** The machine's own clock. */
export const systemClock: Clock = { now: () => instant(Date.now()) }
