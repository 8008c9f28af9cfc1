import { readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { functionRuntime } from '../../src/entry/index.ts'
import type { WindowEvent } from '../../src/entry/window.ts'
import { git } from './git.ts'

/** What the agent says: an answer that calls a tool, or what the tool answered. */
interface Said {
  readonly role: 'assistant' | 'tool'
  readonly text: string
  readonly session: string
  readonly events: readonly WindowEvent[]
}

const CHAPTERS = ['one', 'two', 'three', 'four', 'five']
const WINDOW_TOKENS = 1_000
const TOKENS_PER_CHAPTER = 450

/**
 * An agent without a model: each turn it writes the next missing chapter into the worktree and commits it. Its window
 * takes two chapters, so that the job needs three windows. A real agent would be `claudeRuntime` or `codexRuntime`.
 */
export const writer = functionRuntime<Said>({
  backend: 'example',
  takesSessionId: true,

  start: async function* ({ providerSessionId: session = '', workspace, signal }) {
    const folder = workspace?.worktreePath
    if (folder === undefined) throw new Error('The writer needs a worktree')
    for (let turn = 1; !signal.aborted; turn += 1) {
      // What is done is on disk, not in a window: a fresh session looks there first.
      const chapter = await nextChapter(folder)
      if (chapter === undefined) return
      const key = `${session}-${turn}`
      const promptTokens = turn * TOKENS_PER_CHAPTER
      yield {
        role: 'assistant',
        text: `I write chapter ${chapter}.`,
        session,
        events: [
          { type: 'window', tokens: WINDOW_TOKENS },
          { type: 'request', key, promptTokens, outputTokens: 0 },
          { type: 'tool_call', callId: `${key}-commit`, toolName: 'commit' },
        ],
      }
      yield { role: 'tool', text: await write(folder, chapter, session), session, events: [] }
    }
  },

  // Asked for its checkpoint, it says what is done. A real agent is asked by the same question.
  ask: async ({ workspace }) => ({
    text: `<checkpoint>Next is chapter ${(await nextChapter(workspace?.worktreePath ?? '.')) ?? 'none'}.</checkpoint>`,
  }),

  read: ({ role, text, session, events }) => ({ providerSessionId: session, events, texts: [{ role, text }] }),
})

const nextChapter = async (folder: string): Promise<string | undefined> => {
  const there = await readdir(folder)
  return CHAPTERS.find((chapter) => !there.includes(`${chapter}.md`))
}

/** The session is named in the commit, so that the history of the branch leads back to the record. */
const write = async (folder: string, chapter: string, session: string): Promise<string> => {
  await writeFile(join(folder, `${chapter}.md`), `# Chapter ${chapter}\n`)
  await git(folder, 'add', '.')
  await git(folder, 'commit', '--quiet', '--message', `Write chapter ${chapter}`, '--message', `Session: ${session}`)
  return git(folder, 'rev-parse', '--short', 'HEAD')
}
