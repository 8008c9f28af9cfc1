import { spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { fileURLToPath } from 'node:url'
import { bundle } from '../support/bundle.ts'
import { FakeService } from '../support/fake-service.ts'
import { commandPath, environmentOf } from './claude-stage.ts'
import { type MessagesApi, type Script, startMessagesApi } from './messages-api.ts'

/** A home of the real claude whose settings name our hooks, and an API of ours. */
export interface ClaudeHome {
  readonly api: MessagesApi
  readonly home: string
  /** The folder of the service. */
  readonly folder: string
  readonly environment: Record<string, string | undefined>
}

/** The same with a stand-in for the service. */
export interface HooksStage extends ClaudeHome {
  readonly service: FakeService
}

const HOOKS = {
  SessionStart: 'session-start',
  UserPromptSubmit: 'user-prompt-submit',
  PostToolUse: 'post-tool-use',
  PreCompact: 'pre-compact',
  PostCompact: 'post-compact',
  Stop: 'stop',
  SessionEnd: 'session-end',
} as const

const PROGRAM = fileURLToPath(new URL('../support/hook-program.ts', import.meta.url))

/** The settings a person would write, with the program that runs hooks. */
const settingsFor = (baton: string, folder: string) => {
  const command = (event: string): string => `${baton} hook ${event} --data-dir '${folder}'`
  const hooks = Object.entries(HOOKS).map(([name, event]) => [
    name,
    [{ hooks: [{ type: 'command', command: command(event) }] }],
  ])
  const statusLine = { type: 'command', command: `${command('statusline')} --no-color` }
  return { hooks: Object.fromEntries(hooks), statusLine }
}

/** A home for the real claude. The service is up to the caller. */
export const claudeHome = async (t: TestContext, script: Script): Promise<ClaudeHome> => {
  const api = await startMessagesApi(script)
  const home = mkdtempSync(join(tmpdir(), 'batonpass-hooks-'))
  const folder = join(home, '.batonpass')
  t.after(async () => {
    await api[Symbol.asyncDispose]()
    rmSync(home, { recursive: true, force: true, maxRetries: 5 })
  })
  const program = fileURLToPath(await bundle(PROGRAM, home))
  mkdirSync(join(home, '.claude'))
  const settings = settingsFor(`'${process.execPath}' '${program}'`, folder)
  writeFileSync(join(home, '.claude', 'settings.json'), JSON.stringify(settings, null, 2))
  // A busy machine takes its time: nothing here is about half a second.
  const environment = { ...environmentOf(home, api.url), BATONPASS_HOOK_BUDGET_MS: '300000' }
  return { api, home, folder, environment }
}

/** The same with a stand-in for the service, which answers as the test says. */
export const hooksStage = async (t: TestContext, script: Script): Promise<HooksStage> => {
  const place = await claudeHome(t, script)
  const service = await FakeService.start(place.folder)
  t.after(() => service[Symbol.asyncDispose]())
  return { ...place, service }
}

/** How the real claude ended. */
export interface ClaudeEnd {
  readonly code: number | null
  readonly out: string
  readonly err: string
}

/** Asks the real claude something, and waits until it has ended. */
export const askClaude = (
  { home, environment }: Pick<ClaudeHome, 'home' | 'environment'>,
  prompt: string,
  more: Readonly<Record<string, string>> = {},
  resumes: readonly string[] = [],
): Promise<ClaudeEnd> => {
  const args = ['-p', prompt, '--model', 'claude-sonnet-4-5', '--output-format', 'stream-json', '--verbose']
  const child = spawn(commandPath(), [...args, ...resumes, '--dangerously-skip-permissions'], {
    cwd: home,
    env: { ...environment, ...more },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const said = { out: '', err: '' }
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    said.out += text
  })
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    said.err += text
  })
  return new Promise((resolve) => child.once('close', (code) => resolve({ code, ...said })))
}
