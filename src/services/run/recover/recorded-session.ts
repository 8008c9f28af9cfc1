import type { ConversationId } from '../../../domain/kernel/ids.ts'
import type { AgentSession } from '../../../domain/session/agent-session.ts'
import type { MessageInHistory } from '../../../domain/turn/message.ts'
import type { TranscriptStep } from '../../../ports/agent/agent-runtime.ts'
import type { RecordedText } from '../../../ports/agent/window-reader.ts'
import { everyPage } from '../../../ports/store/page.ts'
import { isPromptOfOurs } from '../restart/resume-prompts.ts'
import type { RecordOfRun, RunInProgress } from '../run-in-progress.ts'

/**
 * The record of a session, to find the parts of a transcript that it lacks. A message is found by the id that the
 * runtime gave it, part by part, or else by its text; a tool call by its id.
 */
export class RecordedSession {
  readonly #redact: (text: string) => string
  readonly #messages = new Map<string, number>()
  readonly #calls = new Set<string>()
  /** The texts that the agent was sent. A prompt may be several of them, one after the other. */
  readonly #prompts: string[] = []
  readonly #isPromptOfOurs: (text: string) => boolean
  readonly #task: string

  private constructor(redact: (text: string) => string, isPromptOfOurs: (text: string) => boolean, task: string) {
    this.#redact = redact
    this.#isPromptOfOurs = isPromptOfOurs
    this.#task = redact(task).trim()
  }

  /** Reads the record of a session, and of others on the same provider session: they share its transcript. */
  static async of(
    run: RecordOfRun & Pick<RunInProgress, 'setting'>,
    { id, providerSessionId }: AgentSession,
  ): Promise<RecordedSession> {
    const { deps, conversation } = run
    const redact = deps.redact ?? ((text: string) => text)
    const recorded = new RecordedSession(redact, (text) => isPromptOfOurs(run, text), conversation.task)
    const named =
      providerSessionId === undefined ? [] : await deps.store.sessions.findByProviderSession(providerSessionId)
    const sharing = new Set([id, ...named.filter(isIn(conversation.id)).map((other) => other.id)])
    for await (const message of everyPage((page) => deps.store.messages.listMessages(conversation.id, page)))
      if (sharing.has(message.sessionId)) recorded.#store(message)
    for (const one of sharing)
      for await (const turn of everyPage((page) => deps.store.messages.listTurns(one, page)))
        for (const { callId } of turn.toolCalls) recorded.#calls.add(callId)
    return recorded
  }

  /**
   * The part of a step that is not on record; undefined when all of it is. Texts that the runtime or a hook sent to the
   * agent are not read back; others are, because a person may have written to the agent without us. A text is a
   * person's if it is the task, or if the runtime marks it as typed.
   */
  missingOf({ events, texts }: TranscriptStep): TranscriptStep | undefined {
    const newTexts = texts
      .filter((text) => (text.role === 'user' ? this.#isNewPrompt(text) : !this.#isRecorded(text)))
      .map((text) => (text.role === 'user' && this.#isTask(text) ? { ...text, origin: 'person' as const } : text))
    const newEvents = events.filter((event) => event.type !== 'tool_call' || this.#isNewCall(event.callId))
    const hasCalls = newEvents.some(({ type }) => type === 'tool_call')
    return newTexts.length > 0 || hasCalls ? { events: newEvents, texts: newTexts } : undefined
  }

  #store({ role, text, providerMessageId }: MessageInHistory): void {
    const key = keyOf(role, text, providerMessageId)
    if (role === 'user' && text.trim() !== '') this.#prompts.push(text.trim())
    // An answer of tool calls alone has no text to find it by.
    if (text !== '' || role === 'tool') this.#messages.set(key, (this.#messages.get(key) ?? 0) + 1)
  }

  #isRecorded({ role, text, id }: RecordedText): boolean {
    const key = keyOf(role, this.#redact(text), id)
    const count = this.#messages.get(key) ?? 0
    if (count > 0) this.#messages.set(key, count - 1)
    return count > 0
  }

  #isTask({ text }: RecordedText): boolean {
    return this.#redact(text).trim() === this.#task
  }

  #isNewPrompt({ text, origin }: RecordedText): boolean {
    if (origin === 'runtime' || origin === 'hook' || text.trim() === '' || this.#isPromptOfOurs(text)) return false
    let rest = this.#redact(text).trim()
    for (const prompt of this.#prompts.toSorted((a, b) => b.length - a.length))
      if (rest.includes(prompt)) rest = rest.replace(prompt, () => '').trim()
    return rest !== ''
  }

  #isNewCall(callId: string | undefined): boolean {
    return callId === undefined || !this.#calls.has(callId)
  }
}

const isIn = (conversation: ConversationId) => (session: AgentSession) => session.conversationId === conversation

const keyOf = (role: string, text: string, id: string | undefined): string =>
  id === undefined || id.trim() === '' ? `${role} says ${text}` : `${role} ${id}`
