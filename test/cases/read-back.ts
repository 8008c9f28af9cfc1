import type { AuditEntry } from '../../src/domain/audit-event.ts'
import type { HandoffMetadata } from '../../src/domain/handoff/handoff.ts'
import type { AgentSessionId, ConversationId, HandoffId } from '../../src/domain/kernel/ids.ts'
import type { AgentSession } from '../../src/domain/session/agent-session.ts'
import type { ContextWindowSnapshot } from '../../src/domain/session/context-snapshot.ts'
import type { MessageInHistory } from '../../src/domain/turn/message.ts'
import type { Page, Paged } from '../../src/ports/store/page.ts'
import type { Store } from '../../src/ports/store/store.ts'

const present = <T>(value: T | undefined): T => {
  if (value === undefined) throw new Error('The store does not have it')
  return value
}

/** Every item of a list, page by page. */
export const everyItem = async <T>(list: (page: Page) => Promise<Paged<T>>): Promise<readonly T[]> => {
  const items: T[] = []
  let page: Page = {}
  for (;;) {
    const read = await list(page)
    items.push(...read.items)
    if (read.next === undefined) return items
    page = { after: read.next }
  }
}

/** What a store has kept, read through its ports. A thing that must be there and is not is an error. */
export class ReadBack {
  readonly #store: Store

  constructor(store: Store) {
    this.#store = store
  }

  async session(id: AgentSessionId): Promise<AgentSession> {
    return present(await this.#store.sessions.find(id))
  }

  async handoff(id: HandoffId): Promise<HandoffMetadata> {
    return present(await this.#store.handoffs.find(id))
  }

  sessions(conversation: ConversationId): Promise<readonly AgentSession[]> {
    return everyItem((page) => this.#store.sessions.listForConversation(conversation, page))
  }

  handoffs(conversation: ConversationId): Promise<readonly HandoffMetadata[]> {
    return everyItem((page) => this.#store.handoffs.listForConversation(conversation, page))
  }

  messages(conversation: ConversationId): Promise<readonly MessageInHistory[]> {
    return everyItem((page) => this.#store.messages.listMessages(conversation, page))
  }

  snapshots(session: AgentSessionId): Promise<readonly ContextWindowSnapshot[]> {
    return everyItem((page) => this.#store.snapshots.listForSession(session, page))
  }

  audit(conversation: ConversationId): Promise<readonly AuditEntry[]> {
    return everyItem((page) => this.#store.audit.list(conversation, page))
  }

  /** Everything a conversation has, to see whether anything at all has changed. */
  async everything(conversation: ConversationId): Promise<unknown> {
    const sessions = await this.sessions(conversation)
    return {
      sessions,
      handoffs: await this.handoffs(conversation),
      messages: await this.messages(conversation),
      snapshots: await Promise.all(sessions.map(({ id }) => this.snapshots(id))),
      audit: await this.audit(conversation),
      lineage: await this.#store.conversations.lineage(conversation),
    }
  }
}
