import { createBatonpass, type Logger, unwrap } from '../../src/entry/index.ts'
import { MemoryStore } from '../../src/entry/memory.ts'
import { FixedClock } from '../../src/entry/testing.ts'
import type { Summarizer } from '../../src/ports/agent/summarizer.ts'
import type { Store } from '../../src/ports/store/store.ts'
import type { LogFields } from '../../src/ports/system/logger.ts'
import type { MemoryFile, MemoryFiles } from '../../src/ports/terminal/memory-file.ts'
import type { ThreadSettings } from '../../src/services/thread/thread-deps.ts'

/** Memory files that are texts, and fail when they are told to. */
export class TextFiles implements MemoryFiles {
  readonly texts = new Map<string, string>()
  readonly tracked = new Set<string>()
  /** Paths that can be looked at, and not read. */
  readonly unreadable = new Set<string>()
  /** Fails changes with this cause while it is set. */
  failing: string | undefined
  writes = 0
  /** So many writes succeed. */
  most = Number.POSITIVE_INFINITY

  open(workspace: string, name: string): MemoryFile {
    const path = `${workspace}/${name}`
    return {
      path,
      read: async () => {
        if (this.unreadable.has(path)) throw new Error('it is no text')
        return this.texts.get(path)
      },
      glance: async () => this.texts.get(path),
      isTracked: async () => this.tracked.has(name),
      change: async (rule) => {
        if (this.failing !== undefined) throw new Error(this.failing)
        const before = this.texts.get(path)
        const made = rule(before)
        if (!made.ok) return made
        const isWritten = made.value !== before
        if (isWritten && this.writes >= this.most) throw new Error('the disk is full')
        if (isWritten) this.writes += 1
        this.texts.set(path, made.value)
        return { ok: true, value: { isWritten, text: made.value } }
      },
    }
  }
}

export const SPACE = '/home/ada/shop'
export const FILE = `${SPACE}/CLAUDE.md`

/** A summarizer that answers with these parts, or fails. */
export const scripted = (answer: () => string): Summarizer => ({
  name: 'scripted-model',
  summarize: async ({ refine }) => ({
    text: answer() + (refine ? `\n${refine.feedback}` : ''),
    modelUsed: 'scripted-model',
  }),
})

export const PARTS =
  '## Objective\nMend it\n## Progress\nHalf\n## Next Steps\nThe rest\n## Blockers\nNone\n## Key files\n- a.ts'

/** Batonpass with texts for files, and a conversation in which something was said. */
export const stageWith = async (
  threads: ThreadSettings = {},
  store: Store = new MemoryStore({ clock: new FixedClock() }),
  redact: (text: string) => string = (text) => text,
  files = new TextFiles(),
) => {
  const clock = new FixedClock()
  const logged: { level: string; message: string; fields: LogFields }[] = []
  const log = (level: string) => (fields: LogFields, message: string) => void logged.push({ level, message, fields })
  const logger: Logger = { debug: log('debug'), info: log('info'), warn: log('warn'), error: log('error') }
  const batonpass = await createBatonpass({ store, clock, logger, redact, threads: { ...threads, files } })
  const { handoffs } = batonpass
  const begun = async (key: string) => {
    const workspace = { workingDirectory: SPACE }
    const opening = { originalTask: 'Mend the till', externalKey: key, workspace }
    const { conversation } = unwrap(await handoffs.openConversation(opening))
    const agent = { agentName: 'claude-code', backend: 'scripted' }
    const working = unwrap(await handoffs.startSession({ conversationId: conversation.id, ...agent }))
    const toolCalls = [{ callId: `call-${key}`, toolName: 'run_tests' }]
    const messages = [{ role: 'assistant' as const, text: 'Half of it works.', toolCalls }]
    unwrap(await handoffs.recordTurn({ ...working, messages }))
    return conversation
  }
  return { ...batonpass, store, clock, files, logged, begun, parent: await begun('till') }
}
