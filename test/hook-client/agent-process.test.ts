import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { forgetProcess, noteProcess, sessionOfParent } from '../../src/adapters/hook-client/agent-process.ts'
import { folder, runHook, SESSION } from './spawned-hook.ts'

const PARENT = String(process.ppid)
const fileOf = (dir: string): string => join(dir, 'agents', `${process.ppid}.json`)

describe('the session of an agent’s process', () => {
  it('is noted by its start hook, changes with the next one, and is forgotten at its end', () => {
    const dir = folder()
    expect(sessionOfParent(dir)).toBeUndefined()
    noteProcess(dir, 'p-1', PARENT)
    expect(sessionOfParent(dir)).toBe('p-1')
    noteProcess(dir, 'p-2', PARENT)
    // The end of the first comes late, as after /clear.
    forgetProcess(dir, 'p-1', PARENT)
    expect(sessionOfParent(dir)).toBe('p-2')
    forgetProcess(dir, 'p-2', PARENT)
    expect(sessionOfParent(dir)).toBeUndefined()
    expect(readdirSync(join(dir, 'agents'))).toEqual([])
  })

  it('is not that of an earlier process with the same number', () => {
    const dir = folder()
    noteProcess(dir, 'p-1', PARENT)
    const note = JSON.parse(readFileSync(fileOf(dir), 'utf8')) as object
    writeFileSync(fileOf(dir), JSON.stringify({ ...note, startTime: '1' }))
    expect(sessionOfParent(dir)).toBeUndefined()
  })

  it.each(['', '{', '[]', '{"v":2}', '{"v":1,"session":"../x"}', 'x'.repeat(5_000)])(
    'is unknown where the file holds %j',
    (text) => {
      const dir = folder()
      mkdirSync(join(dir, 'agents'))
      writeFileSync(fileOf(dir), text)
      expect(sessionOfParent(dir)).toBeUndefined()
    },
  )

  it('leaves no files of processes that have ended', () => {
    const dir = folder()
    mkdirSync(join(dir, 'agents'))
    for (let pid = 4_100_000; pid < 4_100_040; pid += 1) writeFileSync(join(dir, 'agents', `${pid}.json`), '{}')
    noteProcess(dir, 'p-1', PARENT)
    expect(readdirSync(join(dir, 'agents'))).toEqual([`${process.ppid}.json`])
  })

  it('is noted by the hook itself', async () => {
    const dir = folder()
    const input = { session_id: SESSION, source: 'startup', hook_event_name: 'SessionStart' }
    const environment = { CLAUDE_PID: String(process.pid) }
    await runHook(dir, 'session-start', { input, environment })
    expect(JSON.parse(readFileSync(join(dir, 'agents', `${process.pid}.json`), 'utf8'))).toMatchObject({
      session: SESSION,
    })
    await runHook(dir, 'session-end', { input, environment })
    expect(existsSync(join(dir, 'agents', `${process.pid}.json`))).toBe(false)
  })
})
