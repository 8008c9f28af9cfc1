import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import * as sdk from '@openai/codex-sdk'
import { codexRuntime } from '../../src/adapters/codex/runtime/codex-runtime.ts'
import { install, wantedBy } from '../../src/main/installer.ts'
import { NO_WAY_OUT } from './loopback-server.ts'

/** Puts into a home of Codex what `baton codex install` puts there: hooks, and the server for terminals. */
export const installCodex = async (home: string): Promise<void> => {
  const environment = { HOME: home, PATH: '' }
  const command = `'${process.execPath}' '${fileURLToPath(new URL('../../dist/adapters/cli/main.js', import.meta.url))}'`
  const wanted = wantedBy({ environment, command, without: [] })
  if (!wanted.ok) throw new Error(wanted.error)
  const done = await install({
    agent: { name: 'codex' },
    place: { environment, workingFolder: home },
    wanted: wanted.value,
    folder: join(home, '.batonpass'),
    isDryRun: false,
  })
  if (!done.ok) throw new Error(done.error.message)
}

/** The real Codex in a home of its own, with an API of ours. */
export const codexAt = (url: string, home: string, retries = 0) =>
  codexRuntime({
    sdk,
    codex: {
      env: { PATH: process.env.PATH ?? '', HOME: home, NO_KEY: 'none', ...NO_WAY_OUT },
      config: {
        model_provider: 'loopback',
        model_providers: {
          loopback: {
            ...{ name: 'loopback', base_url: `${url}/v1`, env_key: 'NO_KEY', wire_api: 'responses' },
            ...{ stream_max_retries: retries, request_max_retries: 0 },
          },
        },
        analytics: { enabled: false },
        check_for_update_on_startup: false,
      },
    },
    thread: { skipGitRepoCheck: true, sandboxMode: 'danger-full-access', approvalPolicy: 'never' },
  })
