import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { database, folder, spawnBaton, until } from './spawned.ts'

/** Agents that print more than can be read at once, and then wait for their end or go on for ever. */
const PRINTS: Readonly<Record<string, string>> = {
  'one line of blanks': `print('{"type":"user","session_id":"s","message":{"content":"' + ' '.repeat(40e6) + '"}}\\n'); printed()`,
  'one line of nested JSON': `print('['.repeat(2e6) + ']'.repeat(2e6) + '\\n'); printed()`,
  'nested JSON in a record': `print('{"type":"assistant","session_id":"s","message":{"id":"m","content":' + '['.repeat(5e5) + ']'.repeat(5e5) + '}}\\n'); printed()`,
  'line breaks for ever': `for (;;) { print('\\n'.repeat(1e5)); printed() }`,
  'a line that never ends': `for (;;) { print('x'.repeat(1e6)); printed() }`,
}

describe('Ctrl-C while baton reads', () => {
  it.each(Object.entries(PRINTS))('%s', async (_, code) => {
    const place = folder()
    const [agent, printed] = [join(place, 'agent.mjs'), join(place, 'printed')]
    writeFileSync(
      agent,
      `import { writeFileSync, writeSync } from 'node:fs'
      const print = (text) => {
        const bytes = Buffer.from(text)
        for (let at = 0; at < bytes.length; ) at += write(bytes.subarray(at))
      }
      const write = (bytes) => {
        try { return writeSync(1, bytes) } catch (problem) { if (problem.code === 'EAGAIN') return 0; throw problem }
      }
      const printed = () => writeFileSync(${JSON.stringify(printed)}, 'enough')
      print('{"type":"system","subtype":"init","session_id":"s","model":"claude-haiku-4-5"}\\n')
      ${code}
      setInterval(() => {}, 1_000)`,
    )
    const command = `exec "${process.execPath}" "${agent}"`
    const run = spawnBaton(['run', '--command', command, '--cwd', place, 'Fix it'], {
      BATONPASS_DATABASE_URL: await database(),
    })
    await until(() => existsSync(printed) || run.child.exitCode !== null, 'enough that it prints')
    run.child.kill('SIGINT')
    const { code: status, err } = await run.ended
    expect(status, err).toBe(130)
  })
})
