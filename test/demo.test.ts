import { execFile, execFileSync, spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, describe, expect, it } from 'vitest'
import type { Lineage } from '../src/entry/index.ts'
import { program } from './support/bundle.ts'

const run = promisify(execFile)
const BATON = await program(fileURLToPath(new URL('../src/adapters/cli/main.ts', import.meta.url)))
const withoutServer = process.env
const baton = (...args: readonly string[]) =>
  run(process.execPath, [BATON, ...args], { env: withoutServer }).catch(
    (failure: { code: number; stdout: string; stderr: string }) => failure,
  )

describe('baton demo', () => {
  const folder = mkdtempSync(join(tmpdir(), 'batonpass-demo-'))
  afterAll(() => rmSync(folder, { recursive: true, force: true, maxRetries: 10 }))

  it('takes a scripted agent through a handoff and prints the lineage', async () => {
    const { stdout } = await baton('demo', '--data-dir', folder)
    expect(stdout).toMatch(/session 1 {2}claude-code {2}handed_off {2}messages 1–6, 3 turns/)
    expect(stdout).toMatch(/→ agent_transfer to opus-agent {2}completed/)
    expect(stdout).toMatch(/led to by search_code \(message 6\)/)
    expect(stdout).toMatch(/session 2 {2}opus-agent {2}active {2}messages 7–9, 1 turn /)
  })

  it('writes to no server that a variable names, but into a folder of its own, and its next commands work as printed', async () => {
    const cwd = join(folder, 'anywhere')
    mkdirSync(cwd)
    execFileSync('git', ['init', '-q'], { cwd })
    const server = 'postgres://nobody@127.0.0.1:1/none'
    const env = { ...withoutServer, DATABASE_URL: server, BATONPASS_DATABASE_URL: server }
    const { stdout } = await run(process.execPath, [BATON, 'demo'], { cwd, env })
    expect(readdirSync(cwd).sort()).toEqual(['.git', 'batonpass-demo'])
    expect(execFileSync('git', ['status', '--porcelain', '--untracked-files=all'], { cwd, encoding: 'utf8' })).toBe('')
    const commands = [...stdout.matchAll(/^ {2}baton (.*)$/gm)].map(([, words = '']) => words)
    expect(commands).toHaveLength(3)
    for (const words of commands) {
      const line = `exec "$NODE" "$BATON" ${words}`
      const said = await run('sh', ['-c', line], { cwd, env: { ...env, NODE: process.execPath, BATON } })
      expect(said.stdout).not.toBe('')
    }
  })

  it('prints the same lineage for machines', async () => {
    const { stdout } = await baton('demo', '--json', '--data-dir', folder)
    const lineage = JSON.parse(stdout) as Lineage
    expect(lineage.sessions.map(({ agentName, epoch, state }) => ({ agentName, epoch, state }))).toEqual([
      { agentName: 'claude-code', epoch: 1, state: 'handed_off' },
      { agentName: 'opus-agent', epoch: 2, state: 'active' },
    ])
    expect(lineage.handoffs).toHaveLength(1)
    expect(lineage.handoffs[0]?.triggeringToolCalls.map(({ toolName }) => toolName)).toEqual(['search_code'])
  })
})

describe('baton', () => {
  it('ends quietly when nobody reads on, as before "| head"', async () => {
    const child = spawn(process.execPath, [BATON, 'help'], {
      env: withoutServer,
    })
    child.stdout.destroy()
    let said = ''
    child.stderr.on('data', (chunk: Buffer) => {
      said += chunk.toString()
    })
    const code = await new Promise((resolve) => child.once('close', resolve))
    expect({ code, said }).toEqual({ code: 0, said: '' })
  })

  it('says what there is', async () => {
    expect((await baton('help')).stdout).toContain('demo')
  })

  it.each([
    ['an unknown command', ['fly'], 'There is no command "fly"'],
    ['a name every object has', ['constructor'], 'There is no command "constructor"'],
    ['an unknown option', ['demo', '--loud'], '--loud'],
  ])('refuses %s without a stack trace', async (_, args, expected) => {
    const { stderr, ...rest } = await baton(...args)
    expect(rest).toMatchObject({ code: 2 })
    expect(stderr).toContain(expected)
    expect(stderr).not.toMatch(/\n\s+at /)
  })
})
