import type { HolderDigest, HolderToken } from '../kernel/ids.ts'
import type { AgentSession } from './agent-session.ts'

/** A holder token and its digest: the caller shows the one, and the store keeps the other. */
export interface HolderProof {
  readonly token: HolderToken
  readonly digest: HolderDigest
}

/** A session as a step of its handoff sees it; its holder may not be known there. */
export interface SourceSession {
  readonly session: AgentSession
  /** The digest of its holder's token. */
  readonly holder?: HolderDigest
  /** The token that the caller has shown; the store compares it with the digest that it keeps. */
  readonly token?: HolderToken
}

/** A session as stores keep it: beside it the digest of its holder's token, and never the token. */
export interface StoredSession extends SourceSession {
  readonly holder: HolderDigest
}

/** The session of a caller that shows its token. */
export const shownBy = (session: AgentSession, { token, digest }: HolderProof): StoredSession => ({
  session,
  holder: digest,
  token,
})
