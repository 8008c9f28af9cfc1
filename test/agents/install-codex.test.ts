import { deepEqual, equal, match, ok } from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { type Installation, install, uninstall, wantedBy } from '../../src/main/installer.ts'
import { NO_WAY_OUT } from './loopback-server.ts'
import { PATIENT } from './patience.ts'
import { startResponsesApi } from './responses-api.ts'

/** The command comes with the SDK, in a package for each platform. */
const codexScript = (): string => createRequire(import.meta.url).resolve('@openai/codex/bin/codex.js')

interface CodexHome {
  readonly home: string
  readonly installation: Installation
  /** Runs Codex once, and says which hooks were called and how it ended. */
  readonly ask: (...flags: readonly string[]) => Promise<{ readonly heard: readonly string[]; readonly said: string }>
}

const codexHome = async (t: TestContext): Promise<CodexHome> => {
  const home = mkdtempSync(join(tmpdir(), 'batonpass-codex-'))
  const api = await startResponsesApi(() => ({ input: 100, cached: 0, output: 3 }))
  t.after(async () => {
    await api[Symbol.asyncDispose]()
    rmSync(home, { recursive: true, force: true, maxRetries: 5 })
  })
  mkdirSync(join(home, 'bin'))
  const baton = join(home, 'bin', 'baton')
  const log = join(home, 'heard')
  writeFileSync(baton, `#!/bin/sh\necho "$*" >> '${log}'\ncat > /dev/null\n`)
  chmodSync(baton, 0o755)
  const environment = {
    PATH: `${join(home, 'bin')}${delimiter}${process.env.PATH}`,
    HOME: home,
    NO_KEY: 'none',
    ...NO_WAY_OUT,
  }
  const wanted = wantedBy({ environment, command: baton, without: [] })
  if (!wanted.ok) throw new Error(wanted.error)
  const place = { environment, workingFolder: home }
  const provider = `{name="loopback",base_url="${api.url}/v1",env_key="NO_KEY",wire_api="responses"}`
  const settings = [
    'model_provider="loopback"',
    `model_providers.loopback=${provider}`,
    'check_for_update_on_startup=false',
  ]
  const config = settings.flatMap((setting) => ['-c', setting])
  const ask: CodexHome['ask'] = async (...flags) => {
    writeFileSync(log, '')
    const words = ['exec', '--skip-git-repo-check', '-m', 'gpt-5.5', ...config, ...flags, 'Say a word']
    const child = spawn(process.execPath, [codexScript(), ...words], {
      cwd: home,
      env: environment,
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    let said = ''
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (text: string) => (said += text))
    const code = await new Promise((resolve) => child.once('close', resolve))
    equal(code, 0, said)
    return { heard: readFileSync(log, 'utf8').trim().split('\n'), said }
  }
  const installation: Installation = {
    agent: { name: 'codex' },
    place,
    wanted: wanted.value,
    folder: join(home, '.batonpass'),
    isDryRun: false,
  }
  return { home, installation, ask }
}

describe('the real Codex', PATIENT, () => {
  it('takes the hooks and the server that were installed, once they are trusted, and its files are given back', async (t) => {
    const { home, installation, ask } = await codexHome(t)
    mkdirSync(join(home, '.codex'))
    const config = join(home, '.codex', 'config.toml')
    writeFileSync(config, '[analytics]\nenabled = false\n')
    const done = await install(installation)
    ok(done.ok, JSON.stringify(done))
    // What nobody has trusted is not run; the server needs no trust.
    ok((await ask()).heard.every((words) => !words.startsWith('hook ')))
    const { heard } = await ask('--dangerously-bypass-hook-trust')
    ok(heard.includes('mcp'), heard.join(', '))
    const hooks = heard.filter((words) => words.startsWith('hook '))
    deepEqual(hooks, [
      'hook session-start --runtime codex',
      'hook user-prompt-submit --runtime codex',
      'hook stop --runtime codex',
      'hook session-end --runtime codex',
    ])
    const removed = await uninstall(installation)
    ok(removed.ok, JSON.stringify(removed))
    match(readFileSync(config, 'utf8'), /^\[analytics\]\nenabled = false\n/)
    ok(!readFileSync(config, 'utf8').includes('baton"'))
    deepEqual((await ask('--dangerously-bypass-hook-trust')).heard, [''])
  })
})
