import type { DependencyContainer, InjectionToken } from 'tsyringe'
import { describe, expect, it } from 'vitest'
import { buildContainer, TOKENS, type TOKENS as Tokens } from '../src/entry/container.ts'
import { unwrap } from '../src/entry/index.ts'
import { MemoryStore } from '../src/entry/memory.ts'
import { FixedClock, ScriptedRuntime } from '../src/entry/testing.ts'

const isData = (part: unknown): part is object =>
  typeof part === 'object' &&
  part !== null &&
  Object.getPrototypeOf(part) === Object.prototype &&
  !Object.values(part).some((value) => typeof value === 'function')

/** The same settings, noting whenever one is read. They may be copied on the way, which a proxy does not survive. */
const notingData = <T extends object>(settings: T, note: () => void): T => {
  const noted: T = { ...settings }
  // Settings that say nothing are asked for something all the same.
  for (const key of Object.keys({ policy: 0, milestones: 0, sessionMode: 0, file: 0, ...settings }))
    Object.defineProperty(noted, key, {
      enumerable: key in settings,
      get: () => {
        note()
        return Reflect.get(settings, key)
      },
    })
  return noted
}

/** The same part, noting whenever something of it is read or it is called. */
const noting = <T>(part: T, note: () => void): T => {
  if (isData(part)) return notingData(part, note)
  return new Proxy(part as object, {
    get: (target, key) => {
      note()
      const value: unknown = Reflect.get(target, key, target)
      return typeof value === 'function' ? value.bind(target) : value
    },
    apply: (target, self, args) => {
      note()
      return Reflect.apply(target as () => unknown, self, args)
    },
    has: (target, key) => {
      note()
      return Reflect.has(target, key)
    },
    ownKeys: (target) => {
      note()
      return Reflect.ownKeys(target)
    },
  }) as T
}

const makeParts = (): DependencyContainer => {
  const clock = new FixedClock()
  const runs = { hooks: [{ name: 'noted', moment: 'after_run', type: 'function', run: async () => undefined }] }
  return buildContainer({ store: new MemoryStore({ clock }), clock, runs } as never)
}

/** Puts a part that notes its use in the place of one. */
const replace = <T>(parts: DependencyContainer, token: InjectionToken<T>, note: () => void): void => {
  const usual = makeParts().resolve(token)
  parts.register(token, { useValue: noting(usual, note) as never })
}

/** Asks for everything that Batonpass does: commands, questions, a run with hooks and a worktree, recovery, the log. */
const useEverything = async (parts: DependencyContainer): Promise<void> => {
  const batonpass = parts.resolve(TOKENS.batonpass)
  const { conversation } = unwrap(await batonpass.handoffs.openConversation({ originalTask: 'Fix it' }))
  await batonpass.history.conversation(conversation.id)
  await batonpass.context.status(crypto.randomUUID() as never)
  await batonpass.audit.verify(conversation.id)
  const missing = crypto.randomUUID() as never
  await batonpass.threads.preview({ conversation: missing })
  await batonpass.threads.status(process.cwd())
  await batonpass.lookBack.ask({ session: crypto.randomUUID() as never, question: { by: 'words', words: 'it' } })
  await batonpass.threads.status('/nowhere')
  const windows = [
    { turns: [{ text: 'Half.', promptTokens: 900, tools: ['edit'] }], checkpoint: 'Half is done.' },
    { turns: [{ text: 'All.', promptTokens: 100 }] },
  ]
  const runtime = new ScriptedRuntime({ windows, windowTokens: 1_000, takesTools: true })
  const about = { runtime, agent: 'claude-code', prompt: 'Fix it', policy: 'auto', model: 'claude-haiku-4-5' } as const
  await batonpass.run({ ...about, budget: { maxCostUsd: 5 } }).finish()
  // A run that resumes a paused session gives it monitor settings of its own.
  const left = unwrap(await batonpass.handoffs.openConversation({ externalKey: 'left', originalTask: 'Fix it' }))
  const agent = { agentName: 'claude-code', backend: runtime.backend }
  const working = unwrap(await batonpass.handoffs.startSession({ conversationId: left.conversation.id, ...agent }))
  unwrap(await batonpass.handoffs.pauseSession(working))
  await batonpass.run({ ...about, conversation: 'left', contextLimit: 900 }).finish()
  const worktree = { dir: '../worktrees', branchPattern: '{job}' }
  const placed = { ...about, conversation: 'placed', worktree, workspace: { workingDirectory: '/nowhere' } }
  await batonpass
    .run(placed)
    .finish()
    .catch(() => undefined)
  await batonpass.recover()
  await batonpass.close()
}

describe('every part of the container', () => {
  const names = Object.keys(TOKENS) as (keyof typeof Tokens)[]

  it.each(names)('can be replaced by its token, and the other one is used: %s', async (name) => {
    const parts = makeParts()
    let uses = 0
    replace(parts, TOKENS[name] as InjectionToken<unknown>, () => {
      uses += 1
    })
    await useEverything(parts)
    expect(uses).toBeGreaterThan(0)
  })
})
