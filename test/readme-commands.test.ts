import { execFile } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join, resolve } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { CLONE } from './support/clean-room.ts'
import { onServer, withDatabase } from './support/test-databases.ts'

/** Bounded work, for which a busy machine may take its time. */
const NO_DEADLINE = 0

/** The blocks of commands that the README shows, line by line. */
const blocks = [...readFileSync('README.md', 'utf8').matchAll(/^```sh\n(.*?)^```$/gms)].map(([, block = '']) =>
  block.trim().split('\n'),
)

/** Without what the copy has already, and without these tests themselves. */
const toRun = (line: string): string =>
  line
    .split(' && ')
    .filter((command) => command !== 'npm ci' && command !== 'npm test')
    .join(' && ')

/** What a clone would not have. */
const ignored = new Set([
  '.git',
  ...readFileSync('.gitignore', 'utf8')
    .split('\n')
    .map((line) => line.replace(/\/$/, '')),
])

/** It says one thing, as a program of anybody's may. */
const MY_AGENT = `#!/bin/sh
cat > /dev/null
echo '{"type":"system","subtype":"init","session_id":"s-1","model":"claude-haiku-4-5"}'
echo '{"type":"assistant","session_id":"s-1","message":{"id":"m-1","content":[{"type":"text","text":"Done."}]}}'
`

interface Ran {
  readonly line: string
  readonly code: number
  readonly said: string
}

describe.skipIf(process.platform === 'win32')('the commands of the README, in a copy of what is here', () => {
  const folder = mkdtempSync(join(tmpdir(), 'batonpass-readme-'))
  const clone = join(folder, 'clone')
  const bin = join(folder, 'bin')
  const server = process.env.TEST_DATABASE_URL ?? ''
  const database = `${process.env.TEST_DATABASE_PREFIX}readme_${process.pid}`

  beforeAll(async () => {
    cpSync(CLONE, clone, { recursive: true, filter: (path) => !ignored.has(basename(path)) })
    symlinkSync(resolve('node_modules'), join(clone, 'node_modules'))
    mkdirSync(bin)
    writeFileSync(join(bin, 'my-agent'), MY_AGENT, { mode: 0o755 })
    await onServer(server, `create database ${database}`)
  }, NO_DEADLINE)

  afterAll(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }))

  /** Nothing of ours but the path: whoever runs these tests by npm has told their children where its project is. */
  const environment = {
    ...{ PATH: `${bin}:${process.env.PATH}`, HOME: folder, ANTHROPIC_BASE_URL: 'http://127.0.0.1:9' },
    ...{ npm_config_cache: join(folder, 'npm'), npm_config_offline: 'true', npm_config_update_notifier: 'false' },
  }

  const ran = (line: string, more: NodeJS.ProcessEnv): Promise<Ran> =>
    new Promise((done) => {
      execFile('sh', ['-c', line], { cwd: clone, env: { ...environment, ...more } }, (error, out, err) =>
        done({ line, code: error === null ? 0 : Number(error.code), said: `${out}${err}` }),
      )
    })

  /** All of them in order, as somebody would who reads it from top to bottom. */
  const runThemAll = async (): Promise<readonly Ran[]> => {
    const all: Ran[] = []
    for (const block of blocks) {
      let exported: NodeJS.ProcessEnv = {}
      for (const line of block.map(toRun)) {
        if (line.startsWith('export BATONPASS_DATABASE_URL='))
          exported = { BATONPASS_DATABASE_URL: withDatabase(server, database) }
        else if (line !== '') all.push(await ran(line, exported))
      }
    }
    return all
  }

  it('work, and work once more', { timeout: NO_DEADLINE }, async () => {
    for (const round of ['first', 'second']) {
      const all = await runThemAll()
      expect(all.map(({ line }) => line)).toEqual(
        expect.arrayContaining(['npm run demo', 'npx baton demo --database "$BATONPASS_DATABASE_URL"']),
      )
      // What needs a package that is not installed is told so by our own program.
      const failed = all.filter(({ code, said }) => code !== 0 && !/^baton: .* needs the package /m.test(said))
      expect({ round, failed }).toEqual({ round, failed: [] })
      const last = all.findLast(({ line }) => line.includes('conversations list'))
      expect(last?.said).toMatch(/opus-agent|Make the checkout|[0-9a-f]{8}-/)
    }
  })
})
