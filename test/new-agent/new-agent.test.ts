import { execFile } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, describe, expect, it } from 'vitest'
import { AGENT_RUNTIMES, TERMINAL_AGENTS, VENDORS } from '../../src/main/runtimes.ts'
import { bundle } from '../support/bundle.ts'
import { CLONE } from '../support/clean-room.ts'
import { cloneDatabase, withDatabase } from '../support/test-databases.ts'

// The recipe for a new agent is followed on a copy of the sources: one folder, and its place in the list.

mkdirSync(join(CLONE, 'reports'), { recursive: true })
const COPY = mkdtempSync(join(CLONE, 'reports', 'new-agent-'))
afterAll(() => rmSync(COPY, { recursive: true, force: true, maxRetries: 10 }))

for (const part of ['src', 'scripts', 'package.json', 'tsconfig.json', 'docs/configuration.md'])
  cpSync(join(CLONE, part), join(COPY, part), { recursive: true })
for (const part of ['node_modules', 'migrations', 'plugin']) symlinkSync(join(CLONE, part), join(COPY, part))
cpSync(join(CLONE, 'test/new-agent/pico'), join(COPY, 'src/adapters/pico'), { recursive: true })

/** The names that are listed with the new agent. The agents that there are stand before it, however many they are. */
const RUNTIMES_WITH_PICO = [...AGENT_RUNTIMES, 'pico', 'command']
const TERMINALS_WITH_PICO = [...TERMINAL_AGENTS.map(({ name }) => name), 'pico']

const REGISTRY = join(COPY, 'src/main/runtimes.ts')
const LIST = `export const VENDORS: readonly AgentVendor[] = [${VENDORS.map(({ name }) => name).join(', ')}]`
const registered = readFileSync(REGISTRY, 'utf8')
  .replace(LIST, LIST.replace(/]$/, ', pico]'))
  .replace(
    "from '../adapters/codex/vendor.ts'\n",
    (line) => `${line}import { pico } from '../adapters/pico/vendor.ts'\n`,
  )
writeFileSync(REGISTRY, registered)

const run = promisify(execFile)
const BATON = fileURLToPath(await bundle(join(COPY, 'src/adapters/cli/main.ts'), COPY, ['@electric-sql/pglite']))
const work = join(COPY, 'work')
mkdirSync(work)
// A repository of its own: otherwise the memory file of the clone would be meant.
await run('git', ['init', '--quiet', work])

/** The command line with the new agent. */
const baton = async (...args: readonly string[]): Promise<{ readonly out: string; readonly err: string }> => {
  const ended = run(process.execPath, [BATON, ...args], {
    cwd: work,
    env: { ...process.env, BATONPASS_DATABASE_URL: database },
  })
  ended.child.stdin?.end()
  const { stdout: out, stderr: err } = await ended.catch((failed: { stdout: string; stderr: string }) => failed)
  return { out, err }
}

/** A folder is enough for a hook; the record is in a database, which opens faster than a folder does. */
const FOLDER = join(COPY, 'store')
const database = withDatabase(process.env.TEST_DATABASE_URL ?? '', await cloneDatabase())

/** A file that a script of the copy writes. */
const writtenBy = async (script: string, file: string): Promise<string> => {
  mkdirSync(dirname(join(COPY, file)), { recursive: true })
  await run(process.execPath, ['--import', 'tsx', script], { cwd: COPY })
  return readFileSync(join(COPY, file), 'utf8')
}

describe('an agent of a folder and a line', () => {
  it('compiles, so no other table of agents has to name it', async () => {
    writeFileSync(join(COPY, 'tsconfig.src.json'), JSON.stringify({ extends: './tsconfig.json', include: ['src'] }))
    const tsc = join(CLONE, 'node_modules/typescript/bin/tsc')
    const { stdout } = await run(process.execPath, [tsc, '-p', 'tsconfig.src.json'], { cwd: COPY })
    expect(stdout).toBe('')
  })

  it.each([
    ['run', new RegExp(`installed\\): ${RUNTIMES_WITH_PICO.join(', ')}`)],
    ['run', new RegExp(`the first of ${AGENT_RUNTIMES.join(', ')} and pico that`)],
    ['replay', /--format <NAME>.*?pico-lines/],
    ['mcp', new RegExp(`--runtime <NAME>.*?${TERMINALS_WITH_PICO.join(', ')}`)],
    ['hook stop', new RegExp(`--runtime <NAME>.*?${TERMINALS_WITH_PICO.join(', ')}`)],
  ])('is in the help of %s', async (command, words) => {
    const { out } = await baton('help', ...command.split(' '))
    expect(out.replaceAll(/\s+/g, ' ')).toMatch(words)
  })

  it('is completed', async () => {
    const { out } = await baton('completion', 'bash')
    expect(out).toContain(RUNTIMES_WITH_PICO.join(' '))
  })

  it('may be named in a configuration, under both of its names', async () => {
    const file = join(work, 'agents.yaml')
    const checked = async (runtime: string, mode = 'just-do-it') => {
      writeFileSync(file, `agents: [{ name: small, runtime: ${runtime}, permission_mode: ${mode} }]\n`)
      const { out, err } = await baton('config', 'check', file)
      return `${out}${err}`
    }
    expect(await checked('pico')).toMatch(/agents\.small\.runtime +pico/)
    expect(await checked('pico-cli')).toContain('Did you mean "pico"?')
    expect(await checked('pico', 'plan')).toContain('Use one of: ask-first, just-do-it.')
  })

  it('is in the schemas that editors and clients read', async () => {
    const file = 'docs/schemas/configuration.json'
    const schema = JSON.parse(await writtenBy('scripts/configuration-schema.ts', file))
    expect(schema.properties.agents.anyOf[0].items.properties.runtime.enum).toEqual(RUNTIMES_WITH_PICO)
    expect(await writtenBy('scripts/openapi.ts', 'docs/schemas/openapi.json')).toMatch(
      new RegExp(TERMINALS_WITH_PICO.map((name) => `"${name}"`).join(',\\s*')),
    )
  })

  it('is run, and its session is kept with its backend', async () => {
    const ran = await baton('run', '--runtime', 'pico', '--json', '--conversation', 'small', 'Do it')
    expect(ran.err).toBe('')
    expect(ran.out).toContain('"type":"session:start"')
    const { out } = await baton('sessions', 'list', '--json')
    expect(out).toContain('"backend": "pico_cli"')
    const messages = await baton('messages', '--json', 'small')
    expect(messages.out).toContain('Pico has done it.')
  })

  it('hands a thread over in its own memory file', async () => {
    await baton('run', '--runtime', 'pico', '--conversation', 'long', 'Do it')
    const { out, err } = await baton('thread', 'handoff', 'long', '--apply', '--to-key', 'next', '--yes')
    expect(`${out}${err}`).toContain('--runtime pico')
    expect(readFileSync(join(work, 'PICO.md'), 'utf8')).toContain('<current_thread_summary>')
  })

  it('has its records read', async () => {
    const file = join(work, 'recording.jsonl')
    writeFileSync(file, '{"pico":"Done."}\n')
    const { out } = await baton('replay', '--json', file)
    expect(out).toContain('pico-lines')
  })

  it('has its settings looked at by the doctor', async () => {
    const settings = join(work, '.pico')
    mkdirSync(settings, { recursive: true })
    const hooks = { SessionStart: [{ hooks: [{ type: 'command', command: 'baton hook session-start' }] }] }
    writeFileSync(join(settings, 'hooks.json'), JSON.stringify({ hooks }))
    const server = 'command = "baton"\nargs = ["mcp"]\n'
    writeFileSync(join(settings, 'servers.toml'), `[servers.baton]\n${server}[servers.other]\n${server}`)
    const { out } = await baton('doctor', '--json')
    rmSync(settings, { recursive: true })
    expect(out).toContain(`${join(settings, 'hooks.json')} has no hook for stop`)
    expect(out).toContain('pico forget other')
  })

  it('names its provider in telemetry', async () => {
    const program = join(COPY, 'telemetry.ts')
    writeFileSync(
      program,
      `import { trace } from '@opentelemetry/api'
import { BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base'
import { openTelemetry } from './src/entry/telemetry.ts'
const exporter = new InMemorySpanExporter()
trace.setGlobalTracerProvider(new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] }))
openTelemetry().session({ conversationId: 'c', sessionId: 's', epoch: 1, agentName: 'small', backend: 'pico_cli' }).end({ outcome: 'idle' })
console.log(exporter.getFinishedSpans()[0]?.attributes['gen_ai.provider.name'])
`,
    )
    const { stdout } = await run(process.execPath, ['--import', 'tsx', program], { cwd: COPY })
    expect(stdout.trim()).toBe('pico_labs')
  })

  it('is known to the tools that it starts, and to the hooks that it calls', async () => {
    const ended = run(process.execPath, [BATON, 'hook', 'pre-compact', '--runtime', 'pico', '--data-dir', FOLDER], {
      cwd: work,
      env: { ...process.env, BATONPASS_HOOK_DEBUG: '1' },
    })
    ended.child.stdin?.end(JSON.stringify({ session_id: 'small-1', cwd: work }))
    await ended
    const { stdout } = await run('grep', ['-rlE', '"runtime":"pico"', FOLDER])
    expect(stdout).toContain('/spool/')
  })
})
