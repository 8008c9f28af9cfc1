import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Options, query, type SDKMessage } from '@anthropic-ai/claude-agent-sdk'
import { environmentOf } from './claude-stage.ts'

/** How a run differs from the plain one. */
export interface AgentRun {
  readonly url: string
  readonly prompt: string
  readonly options?: Partial<Options>
  readonly env?: Readonly<Record<string, string>>
}

/** Runs the real SDK, and the command inside it, against an API of ours, in a home of its own. */
export async function* runAgent({ url, prompt, options = {}, env = {} }: AgentRun): AsyncGenerator<SDKMessage> {
  const home = mkdtempSync(join(tmpdir(), 'batonpass-agent-'))
  try {
    yield* query({
      prompt,
      options: {
        cwd: home,
        model: 'claude-sonnet-4-5',
        permissionMode: 'bypassPermissions',
        allowDangerouslySkipPermissions: true,
        settingSources: [],
        ...options,
        // Given whole, so that nothing of the machine's own settings or keys reaches the run.
        env: { ...environmentOf(home, url), ...env },
      },
    })
  } finally {
    rmSync(home, { recursive: true, force: true, maxRetries: 5 })
  }
}
