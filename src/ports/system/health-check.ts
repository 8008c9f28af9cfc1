/** How a check came out. Only a problem keeps something from working; a warning is worth a second look. */
export type HealthResult = 'ok' | 'warning' | 'problem'

/** One result of a check, and the way to repair it. */
export interface Finding {
  readonly result: HealthResult
  /** One line for a person. It holds no secret. */
  readonly text: string
  /** One line: what to do about it. */
  readonly repair?: string
  /** SQL statements that repair it, in order. */
  readonly statements?: readonly string[]
}

/** Looks at one thing and changes nothing. What it cannot look at is a finding as well. */
export interface HealthCheck {
  /** A word or two. */
  readonly name: string
  run(): Promise<readonly Finding[]>
}

/** A finding, and the check that made it. */
export interface Examined extends Finding {
  readonly check: string
}
