import { appendFileSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'

/** A transcript as Claude Code writes it, in the folder it keeps them in. */
export class Transcript {
  readonly path: string
  readonly session: string
  #said = 0

  constructor(home: string, session: string) {
    this.session = session
    const project = join(home, '.claude', 'projects', '-work')
    mkdirSync(project, { recursive: true })
    this.path = join(project, `${session}.jsonl`)
  }

  prompts(text: string, marks: object = {}): void {
    this.#write({ type: 'user', message: { role: 'user', content: text }, ...marks })
  }

  /** A prompt beside the result of a tool, and one that the runtime had queued while the tool ran. */
  promptsBeside(text: string): void {
    const result = { type: 'tool_result', tool_use_id: 'toolu_beside', content: 'done' }
    this.#write({ type: 'user', message: { role: 'user', content: [result, { type: 'text', text }] } })
  }

  queues(text: string, more: object = {}): void {
    this.#write({ type: 'attachment', attachment: { type: 'queued_command', prompt: text, ...more } })
  }

  /** An answer whose request sent so many tokens; with a tool call unless it is the last of its exchange. */
  answers(text: string, promptTokens: number, tool?: string): void {
    const id = this.asks(text, promptTokens, tool)
    if (tool !== undefined)
      this.#write({
        type: 'user',
        message: { role: 'user', content: [{ type: 'tool_result', tool_use_id: `toolu_${id}`, content: 'done' }] },
      })
  }

  /** The same before the result of the tool is written: so it stands when the hook of that tool is called. */
  asks(text: string, promptTokens: number, tool?: string, callId?: string): string {
    const id = `msg_${this.session}_${this.#said + 1}`
    const content = [
      { type: 'text', text },
      ...(tool === undefined
        ? []
        : [{ type: 'tool_use', id: callId ?? `toolu_${id}`, name: tool, input: { command: 'ls' } }]),
    ]
    const usage = { input_tokens: 2, cache_read_input_tokens: promptTokens - 2, output_tokens: 40 }
    this.#write({ type: 'assistant', message: { id, model: 'claude-opus-4-6', role: 'assistant', content, usage } })
    return id
  }

  compacts(preTokens: number): void {
    this.#write({ type: 'system', subtype: 'compact_boundary', compactMetadata: { trigger: 'auto', preTokens } })
  }

  #write(record: object): void {
    this.#said += 1
    const timestamp = new Date(Date.parse('2026-11-17T09:00:00.000Z') + this.#said * 1_000).toISOString()
    const uuid = `${this.session}-${this.#said}`
    const line = { ...record, uuid, sessionId: this.session, timestamp, isSidechain: false }
    appendFileSync(this.path, `${JSON.stringify(line)}\n`)
  }
}
