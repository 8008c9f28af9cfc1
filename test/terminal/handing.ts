import { randomUUID } from 'node:crypto'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { pendingFile } from '../../src/adapters/place/workspace.ts'
import type { PendingDocument } from '../../src/ports/terminal/wire.ts'
import type { HookAnswer, HookInput } from '../../src/services/terminal/hook-event.ts'
import type { Stage } from './stage.ts'
import { Transcript } from './transcripts.ts'

/** One more terminal in the workspace of a stage. */
export class Terminal {
  readonly id = `p-${randomUUID()}`
  readonly transcript: Transcript
  readonly #stage: Stage

  constructor(stage: Stage) {
    this.#stage = stage
    this.transcript = new Transcript(stage.home, this.id)
  }

  get input(): Partial<HookInput> {
    return { providerSessionId: this.id, transcriptPath: this.transcript.path }
  }

  start(source = 'startup', input: Partial<HookInput> = {}): Promise<HookAnswer> {
    return this.#stage.hook('session-start', { ...this.input, source, ...input })
  }

  async asks(prompt: string): Promise<HookAnswer> {
    const answer = await this.#stage.hook('user-prompt-submit', { ...this.input, prompt })
    this.transcript.prompts(prompt)
    return answer
  }

  answers(text: string): Promise<HookAnswer> {
    this.transcript.answers(text, 20_000)
    return this.stops()
  }

  stops(): Promise<HookAnswer> {
    return this.#stage.hook('stop', this.input)
  }

  ends(reason: string): Promise<HookAnswer> {
    return this.#stage.hook('session-end', { ...this.input, reason })
  }

  async session() {
    return (await this.#stage.sessions(this.id)).at(-1)
  }
}

/** A terminal that has worked, as most scenes begin. */
export const worked = async (stage: Stage, ...prompts: readonly string[]): Promise<Terminal> => {
  const terminal = new Terminal(stage)
  await terminal.start()
  for (const prompt of prompts.length > 0 ? prompts : ['Fix it']) {
    await terminal.asks(prompt)
    await terminal.answers(`I did: ${prompt}`)
  }
  return terminal
}

/** Leaves a document for the next session. */
export const leaves = async (stage: Stage, { id }: Terminal, document = 'Half is done.'): Promise<PendingDocument> => {
  const { requests } = await stage.open()
  const left = await requests.handoff(id, { document, reason: 'The window is full' })
  if (!left.ok || left.value.state !== 'pending') throw new Error(`not left: ${JSON.stringify(left)}`)
  return left.value.pending
}

/** The file of the document that waits in the workspace of a stage. */
export const waitingFile = (stage: Stage): string => join(stage.folder, pendingFile(stage.workspace))

export const waiting = (stage: Stage): PendingDocument | undefined =>
  existsSync(waitingFile(stage)) ? (JSON.parse(readFileSync(waitingFile(stage), 'utf8')) as PendingDocument) : undefined

/** Everything below `pending/` that is not a folder: nothing is left there when all is done. */
export const left = (stage: Stage): readonly string[] =>
  (readdirSync(join(stage.folder, 'pending'), { recursive: true }) as string[]).filter((name) => name.endsWith('.json'))
