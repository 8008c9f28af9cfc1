import assert from 'node:assert/strict'
import type { AuditEntry } from '../../src/domain/audit-event.ts'
import type { Conversation } from '../../src/domain/conversation/conversation.ts'
import type { HandoffMetadata } from '../../src/domain/handoff/handoff.ts'
import type { Job } from '../../src/domain/history/job.ts'
import { arrangeLineage, type Lineage } from '../../src/domain/history/lineage.ts'
import type { Metadata } from '../../src/domain/kernel/metadata.ts'
import type { AgentSession } from '../../src/domain/session/agent-session.ts'
import type { ContextSignal } from '../../src/domain/session/context-signal.ts'
import type { ContextWindowSnapshot } from '../../src/domain/session/context-snapshot.ts'
import type { LookBackInHistory } from '../../src/domain/session/looked-back.ts'
import type { MessageInHistory, MessageRole } from '../../src/domain/turn/message.ts'
import type { Turn } from '../../src/domain/turn/turn.ts'
import type { ContextMonitor } from '../../src/domain/window/context-monitor.ts'
import type { Page, Paged } from '../../src/ports/store/page.ts'
import type { Store } from '../../src/ports/store/store.ts'
import type { KeptSummary } from '../../src/ports/store/thread-summaries.ts'
import type { UnfinishedSession } from '../../src/ports/store/unfinished-session.ts'
import { readJobs } from '../../src/services/history/job-report.ts'

type Find = (store: Store) => Promise<Conversation | undefined>

/** What a store holds of one conversation, read back through its ports and nothing else. */
export class Kept {
  readonly #store: Store
  readonly #find: Find

  constructor(store: Store, find: Find) {
    this.#store = store
    this.#find = find
  }

  async conversation(): Promise<Conversation> {
    return stored(await this.#find(this.#store), 'conversation')
  }

  /** Dollars, over all its sessions and checkpoints. */
  async cost(): Promise<number> {
    const { id } = await this.conversation()
    return stored(await this.#store.conversations.findUse(id), 'use').costUsd
  }

  /** The summaries that threads of it began with, newest first. */
  async summaries(): Promise<readonly KeptSummary[]> {
    const { id } = await this.conversation()
    return all((page) => this.#store.threadSummaries.list({ sourceThreadId: id }, page))
  }

  /** The conversations whose note contains this. */
  async foundByNote(metadata: Metadata): Promise<readonly string[]> {
    const found = await all((page) => this.#store.conversations.list({ metadata }, page))
    return found.map(({ id }) => id)
  }

  async sessions(): Promise<readonly AgentSession[]> {
    const { id } = await this.conversation()
    return all((page) => this.#store.sessions.listForConversation(id, page))
  }

  /** Its sessions that have not ended, with everything around them. */
  async unfinished(): Promise<readonly UnfinishedSession[]> {
    const { id } = await this.conversation()
    const found = await all((page) => this.#store.sessions.listUnfinished({ ...page, limit: 500 }))
    return found.filter(({ session }) => session.conversationId === id)
  }

  /** The one job that it is, as a report tells it. */
  async job(): Promise<Job> {
    const { id, openedAt } = await this.conversation()
    const found = await all((page) => readJobs({ store: this.#store }, { since: openedAt }, page))
    const [job, ...more] = found.filter(({ conversations: [root] }) => root.id === id)
    assert.equal(more.length, 0, 'a job is told once')
    return stored(job, 'job')
  }

  /** The messages that report the outcomes of threads. */
  async reports(): Promise<readonly MessageInHistory[]> {
    return (await this.messages()).filter(({ reports }) => reports !== undefined)
  }

  /** The newest session of an agent. */
  async session(agent: string): Promise<AgentSession> {
    const listed = (await this.sessions()).findLast(({ agentName }) => agentName === agent)
    return stored(listed && (await this.#store.sessions.find(listed.id)), `session of ${agent}`)
  }

  /** A session by its number in the conversation. */
  async sessionNumber(number: number): Promise<AgentSession> {
    const listed = (await this.sessions()).find(({ epoch }) => epoch === number)
    return stored(listed && (await this.#store.sessions.find(listed.id)), `session ${number}`)
  }

  /** What a session opens with. */
  async opening(number: number): Promise<string> {
    const { id } = await this.sessionNumber(number)
    return stored(await this.#store.messages.findOpening(id), `opening of session ${number}`).text
  }

  /** What was said in a session, from its first turn on. */
  async saidIn(number: number, role: MessageRole): Promise<readonly string[]> {
    const { id } = await this.sessionNumber(number)
    const said = (await this.messages()).filter((message) => message.sessionId === id && message.role === role)
    return said.flatMap(({ turnId, text }) => (turnId === undefined ? [] : [text]))
  }

  async turnsIn(number: number): Promise<readonly Turn[]> {
    const { id } = await this.sessionNumber(number)
    return all((page) => this.#store.messages.listTurns(id, page))
  }

  /** A handoff by its place among those of the conversation. */
  async handoffNumber(number: number): Promise<HandoffMetadata> {
    const listed = (await this.handoffs())[number - 1]
    return stored(listed && (await this.#store.handoffs.find(listed.id)), `handoff ${number}`)
  }

  async activeSession(): Promise<AgentSession | undefined> {
    return this.#store.sessions.findActive((await this.conversation()).id)
  }

  async handoffs(): Promise<readonly HandoffMetadata[]> {
    const { id } = await this.conversation()
    return all((page) => this.#store.handoffs.listForConversation(id, page))
  }

  /** The newest handoff. */
  async handoff(): Promise<HandoffMetadata> {
    const newest = stored((await this.handoffs()).at(-1), 'handoff')
    return stored(await this.#store.handoffs.find(newest.id), 'handoff')
  }

  async openHandoff(agent: string): Promise<HandoffMetadata | undefined> {
    return this.#store.handoffs.findOpenFor((await this.session(agent)).id)
  }

  async turns(agent: string): Promise<readonly Turn[]> {
    const { id } = await this.session(agent)
    return all((page) => this.#store.messages.listTurns(id, page))
  }

  async messages(): Promise<readonly MessageInHistory[]> {
    const { id } = await this.conversation()
    return all((page) => this.#store.messages.listMessages(id, page))
  }

  async snapshots(agent: string): Promise<readonly ContextWindowSnapshot[]> {
    const { id } = await this.session(agent)
    return all((page) => this.#store.snapshots.listForSession(id, page))
  }

  /** The newest snapshot of an agent's window. */
  async snapshot(agent: string): Promise<ContextWindowSnapshot> {
    return stored(await this.#store.snapshots.findLatest((await this.session(agent)).id), 'snapshot')
  }

  async monitor(agent: string): Promise<ContextMonitor> {
    return stored(await this.#store.monitors.find((await this.session(agent)).id), `monitor of ${agent}`)
  }

  /** Everything an agent's session was ever to be told. */
  async signals(agent: string): Promise<readonly ContextSignal[]> {
    const { id } = await this.session(agent)
    return all((page) => this.#store.signals.listFor(id, page))
  }

  async waiting(agent: string): Promise<readonly ContextSignal[]> {
    return this.#store.signals.waiting((await this.session(agent)).id)
  }

  /** The questions that its sessions asked when they looked back. */
  async lookBacks(): Promise<readonly LookBackInHistory[]> {
    const { id } = await this.conversation()
    return all((page) => this.#store.lookBacks.listForConversation(id, page))
  }

  async record(): Promise<readonly AuditEntry[]> {
    const { id } = await this.conversation()
    return all((page) => this.#store.audit.list(id, page))
  }

  /** What happened, in words: `handoff.accepted` reads "handoff accepted". */
  async recordInWords(): Promise<readonly string[]> {
    return (await this.record()).map(({ event }) => event.type.replace(/[._]/g, ' '))
  }

  async lineage(): Promise<Lineage> {
    const { id } = await this.conversation()
    const parts = stored(await this.#store.conversations.lineage(id), 'lineage')
    return stored(arrangeLineage(parts, id), 'lineage')
  }

  /** The child conversation the newest handoff led to. */
  async thread(): Promise<Kept> {
    const handoff = await this.handoff()
    const id = stored(handoff.status === 'completed' ? handoff.targetConversationId : undefined, 'thread')
    return new Kept(this.#store, (store) => store.conversations.find(id))
  }

  /** All there is, to be compared with all there is later. */
  async everything(): Promise<unknown> {
    const sessions = await this.sessions()
    const bySession = sessions.map(async ({ agentName, id }) => [
      await all((page) => this.#store.messages.listTurns(id, page)),
      await all((page) => this.#store.snapshots.listForSession(id, page)),
      agentName,
    ])
    return [await this.lineage(), await this.messages(), await this.record(), await Promise.all(bySession)]
  }
}

/** What must be in the store. */
export const stored = <T>(value: T | undefined, what: string): T => {
  assert.ok(value !== undefined, `the store has no ${what}`)
  return value
}

/** Every item of a list, page after page; the pages are small, so that turning them is part of what is shown. */
export const all = async <T>(list: (page: Page) => Promise<Paged<T>>): Promise<readonly T[]> => {
  const items: T[] = []
  for (let page: Page | undefined = { limit: 5 }; page !== undefined; ) {
    const paged: Paged<T> = await list(page)
    items.push(...paged.items)
    page = paged.next === undefined ? undefined : { limit: 5, after: paged.next }
  }
  return items
}
