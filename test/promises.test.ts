import { existsSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'

/** The pages whose promises each name a test, and their sections that promise nothing. */
const PAGES: Readonly<Record<string, readonly string[]>> = {
  'docs/operating.md': [],
  'docs/terminal-agents.md': [],
  'docs/mcp.md': [],
  'docs/audit-log.md': ['What it cannot find'],
}

const PROMISES = 'Promises and their tests'

/** Files that are run: tests, scenarios, the contract of stores, and the attacks. */
const IS_RUN =
  /^(?:test\/.*\.test\.ts|features\/\w+\.feature|src\/testing\/contract\/[\w-]+\.ts|test\/security\/[\w-]+-attacks\.ts)$/

const testsIn = (text: string): readonly string[] =>
  [...text.matchAll(/`((?:test|features|src\/testing)\/[^`*]+)`/g)].flatMap(([, path = '']) => path)

const expectRun = (paths: readonly string[]): void => {
  expect(paths).not.toEqual([])
  for (const path of paths) {
    expect(path).toMatch(IS_RUN)
    expect(existsSync(path), path).toBe(true)
  }
}

describe.each(Object.entries(PAGES))('%s', (page, promisingNothing) => {
  const [body = '', table = ''] = readFileSync(page, 'utf8').split(`\n## ${PROMISES}\n`)
  const rows = table
    .split('\n')
    .filter((line) => line.startsWith('| ['))
    .map((line) => line.split('|').map((cell) => cell.trim()))
  const promised = new Set(rows.map(([, section = '']) => /^\[(.*)\]/.exec(section)?.[1] ?? section))
  const sections = [...body.matchAll(/^#{2,3} (.*)$/gm)].map(([, title = '']) => title)

  it('names a test for the promises of every section', () => {
    expect([...promised, ...promisingNothing].sort()).toEqual([...sections].sort())
  })

  it('names tests that are there and are run', () => {
    for (const [, , , tests = ''] of rows) expectRun(testsIn(tests))
  })
})

describe('SECURITY.md', () => {
  const text = readFileSync('SECURITY.md', 'utf8')
  const [, promises = ''] = /\n## What is protected, and how\n([\s\S]*?)\n## /.exec(text) ?? []
  const bullets = promises.split('\n- ').slice(1)

  it.each(bullets.map((bullet) => [bullet.replaceAll('\n', ' ').slice(0, 60), bullet]))('%s', (_, bullet) => {
    expectRun(testsIn(bullet))
  })

  it('promises something', () => {
    expect(bullets.length).toBeGreaterThan(10)
  })
})
