import { deepEqual, equal, match, ok } from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { chmodSync, cpSync, existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { fileURLToPath } from 'node:url'
import { ownProgram } from '../../src/adapters/install/own-program.ts'
import { type Installation, install, uninstall, wantedBy } from '../../src/main/installer.ts'
import { bash, commandPath, uses } from './claude-stage.ts'
import { askClaude, type HooksStage, hooksStage } from './hooks-stage.ts'
import { PATIENT } from './patience.ts'

const SMALL = uses(10, 1_000, 20_000, 60)
const PLUGIN = fileURLToPath(new URL('../../plugin', import.meta.url))

/** The parts of the first message that say what a session has. */
interface Init {
  readonly slash_commands: readonly string[]
  readonly mcp_servers: readonly { readonly name: string }[]
  readonly plugins: readonly { readonly name: string }[]
}

const initIn = (out: string): Init => {
  const line = out.split('\n').find((text) => text.includes('"subtype":"init"'))
  return JSON.parse(line ?? '{}') as Init
}

/** How each hook ended, by the messages about them: its status and what it said on its error output. */
const hookEndsIn = (out: string): readonly (readonly [number | undefined, string])[] =>
  out
    .split('\n')
    .filter((line) => line.includes('"hook_response"'))
    .map((line) => JSON.parse(line) as { readonly exit_code?: number; readonly stderr?: string })
    .map(({ exit_code: status, stderr = '' }) => [status, stderr] as const)

const heardBy = ({ service }: HooksStage): readonly string[] => {
  service.takeSpool()
  return [...service.taken.values()].map(({ event }) => event).filter((event) => event !== 'ack')
}

/** A home without any settings of ours, and a program `baton` in it that runs hooks; it has no MCP server. */
const batonStage = async (t: TestContext): Promise<HooksStage & { readonly baton: string }> => {
  const stage = await hooksStage(t, {
    turns: [
      { tool: bash('echo one'), usage: SMALL },
      { text: 'Done.', usage: SMALL },
    ],
  })
  const { home, folder, environment } = stage
  writeFileSync(join(home, '.claude', 'settings.json'), '{\n\t"env": {}\n}\n')
  const bin = join(home, 'bin')
  mkdirSync(bin)
  const baton = join(bin, 'baton')
  writeFileSync(baton, `#!/bin/sh\n[ "$1" = hook ] && exec '${process.execPath}' '${join(home, 'bundle.mjs')}' "$@"\n`)
  chmodSync(baton, 0o755)
  const more = { PATH: `${bin}${delimiter}${process.env.PATH}`, BATONPASS_DATA_DIR: folder }
  return { ...stage, baton, environment: { ...environment, ...more } }
}

const installationIn = ({ home, folder, environment, baton }: Awaited<ReturnType<typeof batonStage>>): Installation => {
  const wanted = wantedBy({ environment, command: baton, without: [] })
  if (!wanted.ok) throw new Error(wanted.error)
  const place = { environment, workingFolder: home }
  return { agent: { name: 'claude', scope: 'user' }, place, wanted: wanted.value, folder, isDryRun: false }
}

const ALL = ['session-start', 'user-prompt-submit', 'post-tool-use', 'stop', 'session-end']

describe('the real claude', PATIENT, () => {
  it('calls the hooks that were installed, has the command and the server, and nothing of them afterwards', async (t) => {
    const stage = await batonStage(t)
    const installation = installationIn(stage)
    const done = await install(installation)
    ok(done.ok, JSON.stringify(done))
    const ended = await askClaude(stage, 'Say a word.')
    equal(ended.code, 0, ended.err)
    deepEqual(heardBy(stage), ALL)
    const init = initIn(ended.out)
    ok(init.slash_commands.includes('baton:handoff'), init.slash_commands.join(' '))
    deepEqual(
      init.mcp_servers.map(({ name }) => name),
      ['baton'],
    )
    // Claude has written to its own file in the meantime.
    const removed = await uninstall(installation)
    ok(removed.ok, JSON.stringify(removed))
    equal(readFileSync(join(stage.home, '.claude', 'settings.json'), 'utf8'), '{\n\t"env": {}\n}\n')
    const own = JSON.parse(readFileSync(join(stage.home, '.claude.json'), 'utf8')) as { readonly mcpServers?: object }
    equal(own.mcpServers, undefined)
    ok(Object.keys(own).length > 0, 'what Claude wrote into its own file is still there')
    ok(!existsSync(join(stage.home, '.claude', 'commands')))
    stage.service.taken.clear()
    const again = await askClaude(stage, 'Say a word.')
    equal(again.code, 0, again.err)
    deepEqual(heardBy(stage), [])
    deepEqual(initIn(again.out).mcp_servers, [])
  })

  it('calls the hooks without Node on its PATH, and is told of no error where nothing of ours is there', async (t) => {
    const stage = await batonStage(t)
    const { home } = stage
    const bin = join(home, 'without-node')
    mkdirSync(bin)
    for (const tool of ['sh', 'bash', 'cat', 'echo', 'env', 'git', 'ps', 'uname', 'which'])
      for (const folder of ['/bin', '/usr/bin'])
        if (existsSync(join(folder, tool)) && !existsSync(join(bin, tool)))
          symlinkSync(join(folder, tool), join(bin, tool))
    const script = join(home, 'bundle.mjs')
    const program = ownProgram({ environment: { PATH: '' }, script })
    if (!program.ok) throw new Error(program.error)
    const installation = installationIn(stage)
    const wanted = { ...installation.wanted, program: program.value, parts: ['hooks'] as const }
    const done = await install({ ...installation, wanted })
    ok(done.ok, JSON.stringify(done))
    const poor = { ...stage, environment: { ...stage.environment, PATH: bin } }
    const ended = await askClaude(poor, 'Say a word.', {}, ['--include-hook-events'])
    equal(ended.code, 0, ended.err)
    deepEqual(heardBy(stage), ALL)
    stage.service.taken.clear()
    rmSync(script)
    const silent = await askClaude(poor, 'Say a word.', {}, ['--include-hook-events'])
    equal(silent.code, 0, silent.err)
    deepEqual(heardBy(stage), [])
    deepEqual(
      hookEndsIn(silent.out).filter(([status, errors]) => status !== 0 || errors !== ''),
      [],
    )
    ok(hookEndsIn(silent.out).length > 0, silent.out)
  })

  it('calls the hooks of the plugin, and has its command and its server', async (t) => {
    const stage = await batonStage(t)
    const ended = await askClaude(stage, 'Say a word.', {}, ['--plugin-dir', PLUGIN])
    equal(ended.code, 0, ended.err)
    deepEqual(heardBy(stage), ALL)
    const init = initIn(ended.out)
    ok(init.slash_commands.includes('baton:handoff'), init.slash_commands.join(' '))
    ok(init.plugins.some(({ name }) => name === 'baton'))
    deepEqual(
      init.mcp_servers.map(({ name }) => name),
      ['plugin:baton:baton'],
    )
  })

  it('takes the plugin from the folder in the package, as the guide says', async (t) => {
    const stage = await batonStage(t)
    const { home, environment } = stage
    const folder = join(home, 'plugin')
    cpSync(PLUGIN, folder, { recursive: true })
    const claude = (...words: readonly string[]): string =>
      execFileSync(commandPath(), words, {
        cwd: home,
        env: environment,
        encoding: 'utf8',
        stdio: ['ignore', 'pipe', 'pipe'],
      })
    match(claude('plugin', 'validate', '--strict', folder), /passed/)
    claude('plugin', 'marketplace', 'add', folder)
    claude('plugin', 'install', 'baton@batonpass')
    const ended = await askClaude(stage, 'Say a word.')
    equal(ended.code, 0, ended.err)
    deepEqual(heardBy(stage), ALL)
    const { wanted, place, ...rest } = installationIn(stage)
    const done = await install({ wanted, place, ...rest })
    ok(done.ok && done.value.remarks.some((remark) => /only the status line/.test(remark)), JSON.stringify(done))
  })
})
