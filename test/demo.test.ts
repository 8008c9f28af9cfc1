import { execFile, spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, describe, expect, it } from 'vitest'
import type { Lineage } from '../src/index.ts'

const run = promisify(execFile)
/** A server named in the environment would be used instead of the embedded store. */
const { BATONPASS_DATABASE_URL: _, ...withoutServer } = process.env
const baton = (...args: readonly string[]) =>
  run(process.execPath, ['--import', 'tsx', 'src/adapters/cli/main.ts', ...args], { env: withoutServer }).catch(
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

  it('writes to no server that is named for something else', async () => {
    const { code, stderr } = (await run(process.execPath, ['--import', 'tsx', 'src/adapters/cli/main.ts', 'demo'], {
      env: { ...withoutServer, DATABASE_URL: 'postgres://nobody@127.0.0.1:1/none' },
    }).catch((failure: unknown) => failure)) as { code?: number; stderr: string }
    expect(code).toBe(2)
    expect(stderr).toContain('the demo writes there only when told')
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
    const child = spawn(process.execPath, ['--import', 'tsx', 'src/adapters/cli/main.ts', 'help'], {
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
