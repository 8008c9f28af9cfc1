import { deepEqual, notEqual, ok } from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join, relative } from 'node:path'
import { describe, it, type TestContext } from 'node:test'

const HERE = import.meta.dirname
const INSTALLED = join(HERE, 'node_modules')
const TSC = join(dirname(createRequire(import.meta.url).resolve('typescript/package.json')), 'bin/tsc')

/** What the compiler has against a project, a line each. */
const problemsOf = (project: string): readonly string[] => {
  try {
    execFileSync(process.execPath, [TSC, '-p', project], { encoding: 'utf8', cwd: HERE })
    return []
  } catch (error) {
    return (error as { stdout: string }).stdout.trim().split('\n')
  }
}

interface Change {
  /** Which package's types, and the lines that hold them against ours. */
  readonly of: keyof typeof PACKAGES
  readonly from: string
  readonly to: string
  readonly says: string
}

const PACKAGES = {
  '@anthropic-ai/claude-agent-sdk': { types: 'sdk.d.ts', checks: 'agent-sdk.types.ts' },
  '@openai/codex-sdk': { types: 'dist/index.d.ts', checks: 'codex.types.ts' },
} as const

const sdk = { of: '@anthropic-ai/claude-agent-sdk' } as const
const codex = { of: '@openai/codex-sdk' } as const

const CHANGES: readonly Change[] = [
  {
    ...sdk,
    from: 'contextWindow: number',
    to: 'contextWindow: string',
    says: 'model_usage.contextWindow has another type',
  },
  { ...sdk, from: 'canonicalModel?: string', to: 'modelId?: string', says: 'model_usage.canonicalModel is not there' },
  { ...sdk, from: 'pre_tokens: number', to: 'preTokens: number', says: 'compact_metadata.pre_tokens is not there' },
  {
    ...sdk,
    from: "trigger: 'manual' | 'auto'",
    to: "trigger: 'manual' | 'auto' | 'reactive'",
    says: 'compact_metadata.trigger has another type',
  },
  { ...sdk, from: "SDKStatus = 'compacting'", to: "SDKStatus = 'compaction'", says: 'compacting' },
  { ...sdk, from: "type: 'conversation_reset'", to: "type: 'conversation_cleared'", says: 'conversation_reset' },
  { ...sdk, from: "subtype: 'compact_boundary'", to: "subtype: 'compacted'", says: 'compact_boundary' },
  {
    ...sdk,
    from: 'message: BetaMessage;',
    to: 'message: BetaMessage | string;',
    says: 'assistant.message is no object',
  },
  {
    ...codex,
    from: 'output_tokens: number',
    to: 'output_tokens?: number',
    says: 'turn.completed.usage.output_tokens is not always there',
  },
  { ...codex, from: 'thread_id: string', to: 'threadId: string', says: 'thread.started.thread_id is not there' },
  { ...codex, from: 'type: "web_search"', to: 'type: "search"', says: 'web_search' },
  { ...codex, from: 'sandboxMode?: SandboxMode', to: 'sandbox?: SandboxMode', says: 'sandboxMode' },
  { ...codex, from: '"read-only" | ', to: '"readonly" | ', says: 'ThreadOptions would not be taken' },
  { ...codex, from: 'configOverrides?: string[]', to: 'overrides?: string[]', says: 'configOverrides' },
  { ...codex, from: 'signal?: AbortSignal', to: 'abort?: AbortSignal', says: 'signal' },
  { ...codex, from: 'type: "turn.failed"', to: 'type: "turn.broken"', says: 'ThreadEvent would not be taken' },
  { ...codex, from: 'resumeThread(id: string', to: 'resumeThread(id: number', says: 'the SDK would not be taken' },
]

/** A project that sees a package's types with one thing changed. It lies where those types find what they import. */
const changed = (t: TestContext, { of, from, to }: Change): string => {
  const { types, checks } = PACKAGES[of]
  const folder = mkdtempSync(join(INSTALLED, '.changed-'))
  t.after(() => rmSync(folder, { recursive: true, force: true, maxRetries: 10 }))
  const declared = readFileSync(join(INSTALLED, of, types), 'utf8')
  const rewritten = declared.replaceAll(from, to)
  notEqual(rewritten, declared, `${of} has no "${from}"`)
  writeFileSync(join(folder, 'changed.d.ts'), rewritten)
  const project = {
    extends: relative(folder, join(HERE, 'tsconfig.json')),
    compilerOptions: { paths: { [of]: ['./changed.d.ts'] } },
    include: [relative(folder, join(HERE, checks))],
  }
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(project))
  return folder
}

describe('the types of the agent packages', () => {
  it('give everything our readers take', () => {
    deepEqual(problemsOf(HERE), [])
  })

  it('are the same in a copy, so that what follows is due to the change', (t) => {
    deepEqual(
      problemsOf(changed(t, { ...sdk, from: 'contextWindow: number', to: 'contextWindow: (number)', says: '' })),
      [],
    )
  })

  for (const change of CHANGES) {
    it(`turn this red when ${change.of} says ${change.to}`, (t) => {
      const said = problemsOf(changed(t, change)).filter((problem) => problem.includes("the constraint 'never'"))
      ok(
        said.some((problem) => problem.includes(change.says)),
        said.join('\n') || 'nothing was said',
      )
    })
  }
})
