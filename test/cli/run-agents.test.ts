import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import type { HandoffMetadata } from '../../src/entry/index.ts'
import { AGENT_COMMAND, database, folder, spawnBaton } from './spawned.ts'
import { batonOn } from './terminal.ts'

const until = async (done: () => Promise<boolean>): Promise<void> => {
  while (!(await done())) await new Promise((resolve) => setTimeout(resolve, 50))
}

let url: string
beforeAll(async () => {
  url = await database()
})

/** A file with agents of which each follows a script of its own. */
const team = (...agents: readonly (readonly [name: string, script: string])[]): string => {
  const file = join(folder(), 'team.json')
  const commands = agents.map(([name, script]) => ({ name, command: `SCRIPT="${script}" ${AGENT_COMMAND}` }))
  writeFileSync(file, JSON.stringify({ agents: commands }))
  return file
}

const run = (...args: readonly string[]) => spawnBaton(['run', ...args], { BATONPASS_DATABASE_URL: url }).ended

describe('baton run --agents', () => {
  it('lets the agents of a file hand the work to each other, and says so', async () => {
    const file = team(['planner', 'turn:1000 to:coder wait'], ['coder', 'turn:2000 say:3000'])
    const { code, out, err } = await run('--agents', file, '--conversation', 'team', 'Fix it')
    expect(err).toContain('planner hands the work to coder: My part is done.')
    expect(err).toContain('coder works now')
    expect(err).toContain('1 transfer')
    expect({ code, out }).toEqual({ code: 0, out: 'Answer 1.\nAnswer 1.\nAnswer 2.\n' })
    const shown = await batonOn(url)('handoffs', 'show', '--key', 'team', '--json')
    expect(JSON.parse(shown.out) as HandoffMetadata).toMatchObject({
      kind: 'agent_transfer',
      status: 'completed',
      sourceAgent: 'planner',
      targetAgent: 'coder',
      document: 'All of it.',
      triggeringToolCalls: [{ toolName: 'edit_file' }],
    })
  })

  it('begins with the agent that is named, and ends with a status of its own when it hands over to a stranger', async () => {
    const file = team(['planner', 'say:100'], ['coder', 'turn:100 to:stranger wait'])
    const { code, err } = await run('--agents', file, '--agent', 'coder', '--conversation', 'left', 'Fix it')
    expect(code).toBe(9)
    expect(err).toContain('handed over to another agent')
    expect(err).toContain('"stranger"')
    const listed = await batonOn(url)('handoffs', 'list', '--target', 'stranger', '--json')
    expect(listed.out).toContain('"initiated"')
  })

  it.each([
    [['--model', 'opus'], '--model does not go with --agents'],
    [['--config', 'x.yaml'], '--config does not go with --agents'],
    [['--agent', 'codr'], 'Did you mean "coder"?'],
  ])('refuses %j', async (flags, problem) => {
    const { code, err } = await run('--agents', team(['coder', 'say:1']), ...flags, 'Fix it')
    expect({ code, err }).toEqual({ code: 2, err: expect.stringContaining(problem) as unknown })
  })

  it('refuses a file without agents', async () => {
    const file = join(folder(), 'none.json')
    writeFileSync(file, '{}')
    const { code, err } = await run('--agents', file, 'Fix it')
    expect({ code, err }).toEqual({ code: 2, err: expect.stringContaining('names no agents') as unknown })
  })
})

describe('baton work', () => {
  it('takes up what waits for its agent, and stops in good order when it is told to', async () => {
    const file = team(['planner', 'turn:100 to:worker-agent wait'])
    expect((await run('--agents', file, '--conversation', 'for-a-worker', 'Fix it')).code).toBe(9)
    const command = `SCRIPT="turn:2000 say:3000" ${AGENT_COMMAND}`
    const asked = ['work', '--agent', 'worker-agent', '--command', command, '--drain-for', '90s']
    const worker = spawnBaton(asked, { BATONPASS_DATABASE_URL: url })
    const isDone = async (): Promise<boolean> => {
      const { out } = await batonOn(url)('sessions', 'show', '--key', 'for-a-worker', '--json')
      return out.includes('"worker-agent"') && out.includes('"completed"')
    }
    await until(isDone)
    worker.child.kill('SIGTERM')
    const { code, out, err } = await worker.ended
    expect({ code, out }).toEqual({ code: 0, out: '1 completed\n' })
    expect(err).toContain('Working for worker-agent. Ctrl-C stops it within 90 seconds.')
    expect(err).toContain('It is woken when something is handed over, and looks every 30 seconds at the longest')
    const shown = await batonOn(url)('handoffs', 'show', '--key', 'for-a-worker', '--json')
    expect(JSON.parse(shown.out) as HandoffMetadata).toMatchObject({ status: 'completed', targetAgent: 'worker-agent' })
  })

  it('wants to know for whom', async () => {
    const { code, err } = await spawnBaton(['work'], { BATONPASS_DATABASE_URL: url }).ended
    expect({ code, err }).toEqual({ code: 2, err: expect.stringContaining('Say for whom') as unknown })
  })
})
