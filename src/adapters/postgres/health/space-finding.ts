import type { Finding } from '../../../ports/system/health-check.ts'

const MEGABYTE = 2 ** 20
/** Below this the embedded store refuses to open, and below that it soon will. */
const FLOOR = 64 * MEGABYTE
const LITTLE = 512 * MEGABYTE

/** The finding for so many free bytes. */
export const spaceFinding = (free: number): Finding => {
  const text = `${Math.floor(free / MEGABYTE).toLocaleString('en')} MB are free`
  if (free >= LITTLE) return { result: 'ok', text }
  const repair = `Free some space: the embedded store stops at ${FLOOR / MEGABYTE} MB.`
  return { result: free < FLOOR ? 'problem' : 'warning', text: `only ${text}`, repair }
}
