declare const brand: unique symbol

/** A string that only its own parser may produce. */
export type Id<Name extends string> = string & { readonly [brand]: Name }

/** Names one long piece of work. */
export type ConversationId = Id<'ConversationId'>
/** Names one message of a conversation. */
export type MessageId = Id<'MessageId'>
/** Names one request/response of a session. */
export type TurnId = Id<'TurnId'>
/** Names one window's life inside a conversation. */
export type AgentSessionId = Id<'AgentSessionId'>
/** Names one passing of a conversation from a session to another. */
export type HandoffId = Id<'HandoffId'>
/** Names one snapshot of a context window. */
export type SnapshotId = Id<'SnapshotId'>
/** Names one question of a session that looked back. */
export type LookBackId = Id<'LookBackId'>
/** Names one signal to a session. */
export type SignalId = Id<'SignalId'>
/** Names one command, so that repeating it is safe. */
export type CommandId = Id<'CommandId'>
/** Proves which process holds a session now. A newer token supersedes an older one. A secret: no store keeps it. */
export type HolderToken = Id<'HolderToken'>
/** The SHA-256 of a holder token, as stores keep it. The token cannot be made from it. */
export type HolderDigest = Id<'HolderDigest'>

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i

/** Whether a value is the text of an id, in lower or upper case. Which thing it names is a matter of types alone. */
export const isUuid = (value: unknown): value is string => typeof value === 'string' && UUID.test(value)

const parserFor =
  <T extends Id<string>>(name: string) =>
  (raw: string): T => {
    if (!isUuid(raw)) {
      throw new TypeError(
        `${name} must be a UUID such as 0190a0a0-0000-7000-8000-000000000001, got ${JSON.stringify(raw)}`,
      )
    }
    return raw.toLowerCase() as T
  }

/**
 * Reads a conversation id from text.
 *
 * @throws TypeError when it is not a UUID
 * @example
 * ```ts
 * const id = conversationId('0190A0A0-0000-7000-8000-000000000001')
 * console.log(id) // => 0190a0a0-0000-7000-8000-000000000001
 * ```
 */
export const conversationId = parserFor<ConversationId>('ConversationId')
/** Reads a message id from text. @throws TypeError when it is not a UUID */
export const messageId = parserFor<MessageId>('MessageId')
/** Reads a turn id from text. @throws TypeError when it is not a UUID */
export const turnId = parserFor<TurnId>('TurnId')
/** Reads an agent session id from text. @throws TypeError when it is not a UUID */
export const agentSessionId = parserFor<AgentSessionId>('AgentSessionId')
/** Reads a handoff id from text. @throws TypeError when it is not a UUID */
export const handoffId = parserFor<HandoffId>('HandoffId')
/** Reads a snapshot id from text. @throws TypeError when it is not a UUID */
export const snapshotId = parserFor<SnapshotId>('SnapshotId')
/** Reads a look-back id from text. @throws TypeError when it is not a UUID */
export const lookBackId = parserFor<LookBackId>('LookBackId')
/** Reads a signal id from text. @throws TypeError when it is not a UUID */
export const signalId = parserFor<SignalId>('SignalId')
/** Reads a command id from text. @throws TypeError when it is not a UUID */
export const commandId = parserFor<CommandId>('CommandId')

/** 256 random bits after a word that says what it is. Tokens of earlier versions were UUIDs, and are still shown. */
const TOKEN = /^hold_[A-Za-z0-9_-]{43}$/
const DIGEST = /^[A-Za-z0-9+/]{43}$/

/** Whether a text has the form of a holder token. */
export const isHolderToken = (raw: unknown): raw is HolderToken =>
  typeof raw === 'string' && (TOKEN.test(raw) || UUID.test(raw))

/** Reads a holder token from text. @throws TypeError when it is none; the message never has the text */
export const holderToken = (raw: string): HolderToken => {
  if (!isHolderToken(raw)) throw new TypeError('HolderToken must be the `holder` of an answer')
  return (TOKEN.test(raw) ? raw : raw.toLowerCase()) as HolderToken
}

/** Reads the digest of a holder token from text. @throws TypeError when it is none; the message never has the text */
export const holderDigest = (raw: string): HolderDigest => {
  if (typeof raw !== 'string' || !DIGEST.test(raw)) throw new TypeError('HolderDigest must be a SHA-256 in base64')
  return raw as HolderDigest
}
