import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  branchPatternProblem,
  branchProblem,
  DEFAULT_WORKTREE,
  planWorktree,
} from '../../src/domain/conversation/worktree.ts'

const digest = (text: string): string => createHash('sha256').update(text).digest('hex')
const planned = (job: string, branchPattern = DEFAULT_WORKTREE.branchPattern, agent = 'claude-code') =>
  planWorktree({ ...DEFAULT_WORKTREE, branchPattern }, { job, agent, digest })
const branchOf = (...given: Parameters<typeof planned>): string => {
  const plan = planned(...given)
  return plan.ok ? plan.value.branch : `refused: ${plan.error}`
}

describe('the branch of a conversation', () => {
  it.each([
    ['issue-7', undefined, 'baton/issue-7'],
    ['v1.2_x', '{agent}/{job}', 'claude-code/v1.2_x'],
    ['issue-7', 'agents/{agent_name}/{job_id}', 'agents/claude-code/issue-7'],
  ])('of "%s" by %s is %s', (job, pattern, branch) => {
    expect(branchOf(job, pattern)).toBe(branch)
  })

  it.each([
    'Issue #12: fix it',
    'C0123/1699.001',
    'a.lock',
    'a..b',
    '.hidden',
    'é',
    'x'.repeat(300),
    '{job}',
    '$(id)',
    'a;b',
  ])('of a key that git would not take has a digest, so that no two keys share it: %s', (job) => {
    const branch = branchOf(job)
    expect(branch).toMatch(/^baton\/([A-Za-z0-9_-]+-)?[0-9a-f]{8}$/)
    expect(branchProblem(branch)).toBeUndefined()
    expect(branchOf(`${job}!`)).not.toBe(branch)
  })

  it.each(['--upload-pack=x', '-b', '../../etc', 'a/../b', 'a\\..\\b', '/etc', '~root', 'a\nb', 'a\u202eb', 'a\u0000'])(
    'is refused for a hostile key: %j',
    (job) => {
      expect(planned(job)).toMatchObject({ ok: false })
      expect(planned('fine', '{agent}/{job}', job)).toMatchObject({ ok: false })
    },
  )

  it('is a name that git takes, whatever the key is, and the same each time', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', minLength: 1, maxLength: 120 }), (job) => {
        const plan = planned(job)
        if (!plan.ok) return
        expect(branchProblem(plan.value.branch)).toBeUndefined()
        expect(planned(job)).toEqual(plan)
      }),
    )
  })

  it('may be named by the workspace, and is looked at all the same', () => {
    const owner = { job: 'x', agent: 'a', digest }
    const named = planWorktree(DEFAULT_WORKTREE, { ...owner, workspace: { branch: 'fix', baseBranch: 'main' } })
    expect(named).toMatchObject({ ok: true, value: { branch: 'fix', baseBranch: 'main', repository: '.' } })
    for (const workspace of [{ branch: '-d' }, { baseBranch: '--output=x' }, { baseBranch: 'main~1' }])
      expect(planWorktree(DEFAULT_WORKTREE, { ...owner, workspace })).toMatchObject({ ok: false })
  })
})

describe('a name that git takes for something else', () => {
  it.each([
    '',
    '-x',
    'a b',
    'a..b',
    'a@{1}',
    '@',
    'a//b',
    '/a',
    'a/',
    'a.lock',
    'a/.b',
    'a.',
    'a~1',
    'a^',
    'a:b',
    'a?',
    'a*',
    'a[',
    'a\\b',
    'a\tb',
  ])('is no branch: %j', (name) => {
    expect(branchProblem(name)).toBeDefined()
  })

  it.each(['main', 'fix/one', 'release-1.2', 'füße'])('is a branch: %s', (name) => {
    expect(branchProblem(name)).toBeUndefined()
  })

  it.each(['x', '{agent}', '{job', '{date}/{job}', '-{job}', 'a b/{job}', '{job}.lock', '{__proto__}{job}'])(
    'is no pattern: %s',
    (pattern) => {
      expect(branchPatternProblem(pattern)).toBeDefined()
    },
  )
})
