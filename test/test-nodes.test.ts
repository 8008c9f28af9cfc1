import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { NODES, nodeRuns } from '../scripts/test-nodes.ts'

describe('npm run test:nodes', () => {
  it('without a word tests everything on every version of Node that we promise', () => {
    expect(nodeRuns([])).toEqual(NODES.map((node) => ({ node, command: ['npm', 'test'] })))
  })

  it('takes numbers for versions, and other words for tests', () => {
    const command = ['node', 'node_modules/vitest/vitest.mjs', 'run', 'test/domain', '-t', 'a lease']
    expect(nodeRuns(['24', '22.12.0', 'test/domain', '-t', 'a lease'])).toEqual([
      { node: '24', command },
      { node: '22.12.0', command },
    ])
  })

  it('begins with the version that package.json promises', () => {
    const { engines } = JSON.parse(readFileSync('package.json', 'utf8')) as { engines: { node: string } }
    expect(engines.node).toBe('>=20.19')
    expect(engines.node.slice('>='.length).split('.')[0]).toBe(NODES[0])
  })
})
