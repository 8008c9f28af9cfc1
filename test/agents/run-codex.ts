import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Codex, type CodexOptions, type ThreadEvent } from '@openai/codex-sdk'
import { NO_WAY_OUT } from './loopback-server.ts'

/** What a run said while it ran, and what it wrote down about itself. */
export interface CodexRun {
  readonly events: readonly ThreadEvent[]
  readonly rollout: readonly unknown[]
}

/** Runs the real Codex against an API of ours, in a home of its own. */
export const runCodex = async (url: string, config: CodexOptions['config'] = {}): Promise<CodexRun> => {
  const home = mkdtempSync(join(tmpdir(), 'batonpass-codex-'))
  try {
    const provider = { name: 'loopback', base_url: `${url}/v1`, env_key: 'NO_KEY', wire_api: 'responses' }
    const codex = new Codex({
      // Given whole, so that nothing of the machine's own settings or keys reaches the run.
      env: { PATH: process.env.PATH ?? '', HOME: home, NO_KEY: 'none', ...NO_WAY_OUT },
      config: {
        model_provider: 'loopback',
        model_providers: { loopback: provider },
        analytics: { enabled: false },
        check_for_update_on_startup: false,
        ...config,
      },
    })
    const thread = codex.startThread({
      model: 'gpt-5.5',
      workingDirectory: home,
      skipGitRepoCheck: true,
      sandboxMode: 'danger-full-access',
      approvalPolicy: 'never',
    })
    const said: ThreadEvent[] = []
    const { events } = await thread.runStreamed('Say two words.')
    for await (const event of events) said.push(event)
    return { events: said, rollout: rolloutIn(join(home, '.codex/sessions')) }
  } finally {
    rmSync(home, { recursive: true, force: true, maxRetries: 5 })
  }
}

const rolloutIn = (folder: string): readonly unknown[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.jsonl'))
    .flatMap((path) => readFileSync(join(folder, path), 'utf8').trim().split('\n'))
    .map((line): unknown => JSON.parse(line))
