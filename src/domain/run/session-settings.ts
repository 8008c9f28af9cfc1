/** How a further prompt in a conversation begins. */
export const SESSION_MODES = ['persistent', 'fresh'] as const

/** How a further prompt begins: in the latest session, or in a fresh one. */
export type SessionMode = (typeof SESSION_MODES)[number]

/** A session that was not used for a day has usually lost its place: files have changed, and caches are cold. */
const DEFAULT_TIMEOUT_MS = 86_400_000

/** Settings about a session between two prompts. */
export interface SessionSettings {
  readonly mode: SessionMode
  /** How long after its last message a session may still be resumed; after that a fresh one begins. */
  readonly timeoutMs: number
}

/** Sessions are resumed within a day. */
export const DEFAULT_SESSION_SETTINGS: SessionSettings = { mode: 'persistent', timeoutMs: DEFAULT_TIMEOUT_MS }
