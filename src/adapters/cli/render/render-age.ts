const UNITS = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['m', 60_000],
  ['s', 1_000],
] as const

/** How long ago something was, in the largest whole unit: `40s`, `3m`, `2h`, `5d`. */
export const age = (from: string, now: number): string => lasting(now - Date.parse(from))

/** A length of time in its largest whole unit. */
const lasting = (ms: number): string => {
  const [unit, size] = UNITS.find(([, each]) => ms >= each) ?? ['s', 1_000]
  return `${Math.max(0, Math.floor(ms / size))}${unit}`
}
