import { randomUUID } from 'node:crypto'
import { appendFileSync, copyFileSync, mkdirSync, mkdtempSync, realpathSync } from 'node:fs'
import { join } from 'node:path'
import type { Conversation } from '../../src/domain/conversation/conversation.ts'
import { everyPage } from '../../src/ports/store/page.ts'
import type { TerminalRuntime } from '../../src/ports/terminal/terminal-files.ts'
import type { HookAnswer, HookEventName, HookInput } from '../../src/services/terminal/hook-event.ts'
import type { Stage } from './stage.ts'
import { Transcript } from './transcripts.ts'

/** A rollout as Codex writes it, in the folder it keeps them in. */
class Rollout {
  readonly path: string
  #said = 0
  #tokens = 0

  constructor(home: string, session: string, forkedFrom?: string) {
    const folder = join(home, '.codex', 'sessions', '2026', '11', '17')
    mkdirSync(folder, { recursive: true })
    this.path = join(folder, `rollout-2026-11-17T10-00-00-${session}.jsonl`)
    const about = { id: session, cli_version: '0.163.0', ...(forkedFrom && { forked_from_id: forkedFrom }) }
    this.#write('session_meta', about)
    this.#write('turn_context', { model: 'gpt-5.5' })
  }

  prompts(text: string): void {
    this.#write('response_item', { type: 'message', role: 'user', content: [{ type: 'input_text', text }] })
  }

  answers(text: string, tokens: number): void {
    this.#write('response_item', { type: 'message', role: 'assistant', content: [{ type: 'output_text', text }] })
    const usage = { input_tokens: tokens, cached_input_tokens: 0, output_tokens: 40, total_tokens: tokens + 40 }
    // The same totals again are the same request, said again.
    this.#tokens += tokens
    const total = { ...usage, input_tokens: this.#tokens, total_tokens: this.#tokens + 40 }
    const info = { last_token_usage: usage, total_token_usage: total, model_context_window: 258_400 }
    this.#write('event_msg', { type: 'token_count', info })
  }

  #write(type: string, payload: object): void {
    this.#said += 1
    const timestamp = new Date(Date.parse('2026-11-17T09:00:00.000Z') + this.#said * 1_000).toISOString()
    appendFileSync(this.path, `${JSON.stringify({ timestamp, type, payload })}\n`)
  }
}

/** The terminal of a runtime, with the hooks that the real one was seen to call. */
export class AgentTerminal {
  readonly id: string
  readonly runtime: TerminalRuntime
  readonly transcript: Transcript | Rollout
  readonly cwd: string
  readonly #stage: Stage

  constructor(
    stage: Stage,
    runtime: TerminalRuntime,
    given: Partial<Pick<AgentTerminal, 'id' | 'transcript' | 'cwd'>> = {},
  ) {
    const { id = randomUUID(), cwd = stage.workspace } = given
    this.id = id
    this.runtime = runtime
    this.cwd = cwd
    this.transcript =
      given.transcript ?? (runtime === 'claude' ? new Transcript(stage.home, id) : new Rollout(stage.home, id))
    this.#stage = stage
  }

  /** The same session in another terminal, of this folder or of another one. */
  elsewhere(cwd = this.cwd): AgentTerminal {
    return new AgentTerminal(this.#stage, this.runtime, { id: this.id, transcript: this.transcript, cwd })
  }

  /** A fork of the session. Claude Code copies the records with their ids; Codex names the source. */
  forked(): AgentTerminal {
    const [stage, id] = [this.#stage, randomUUID()]
    if (this.runtime === 'codex')
      return new AgentTerminal(stage, 'codex', { id, transcript: new Rollout(stage.home, id, this.id) })
    const transcript = new Transcript(stage.home, id)
    copyFileSync(this.transcript.path, transcript.path)
    return new AgentTerminal(stage, 'claude', { id, transcript })
  }

  hook(event: HookEventName, input: Partial<HookInput> = {}): Promise<HookAnswer> {
    const { id, transcript, cwd, runtime } = this
    return this.#stage.hook(
      event,
      { providerSessionId: id, transcriptPath: transcript.path, cwd, ...input },
      {},
      runtime,
    )
  }

  start(source = 'startup'): Promise<HookAnswer> {
    return this.hook('session-start', { source })
  }

  /** The person says something, and the agent answers. */
  async says(prompt: string): Promise<void> {
    await this.hook('user-prompt-submit', { prompt })
    this.transcript.prompts(prompt)
    this.transcript.answers(`I did: ${prompt}`, 20_000)
    await this.hook('stop')
  }

  async ends(): Promise<void> {
    await this.hook('session-end', { reason: 'other' })
  }

  /** The text that comes back after a compaction. */
  async compacts(): Promise<string> {
    await this.hook('pre-compact', { trigger: 'manual' })
    return (await this.hook('session-start', { source: 'compact' })).inject ?? ''
  }

  async leaves(document: string): Promise<void> {
    const { requests } = await this.#stage.open()
    const left = await requests.handoff(this.id, { document })
    if (!left.ok) throw new Error(`not left: ${JSON.stringify(left)}`)
  }

  /** Where it works: its conversation, that one's parent, and how many sessions there were. */
  async place() {
    const { store } = this.#stage
    const session = (await store.sessions.findByProviderSession(this.id)).at(-1)
    const conversation = session && (await store.conversations.find(session.conversationId))
    return {
      conversation: conversation?.id,
      parent: conversation?.parentId,
      epoch: session?.epoch,
      state: session?.state,
      turns: session?.progress.turns,
    }
  }
}

/** A folder that is no part of the workspace of a stage. */
export const otherFolder = (stage: Stage): string => realpathSync(mkdtempSync(join(stage.home, 'other-')))

export const conversationsOf = async ({ store }: Stage): Promise<readonly Conversation[]> => {
  const all: Conversation[] = []
  for await (const each of everyPage((page) => store.conversations.list({}, page))) all.push(each)
  return all
}
