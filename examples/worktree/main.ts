import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { createBatonpass } from '../../src/entry/index.ts'
import { writer } from './agent.ts'
import { git, makeRepository } from './git.ts'

const folder = process.argv[2] === undefined ? await mkdtemp(join(tmpdir(), 'worktree-')) : resolve(process.argv[2])
const workingDirectory = await makeRepository(folder)
await using batonpass = await createBatonpass({ dataDir: join(folder, 'record') })

// The conversation gets a worktree and a branch of its own, called after its key. Every window of it is launched there,
// and so is the process that recovers it; a later run with the same key finds the same worktree again.
const run = batonpass.run({
  runtime: writer,
  agent: 'writer',
  prompt: 'Write a book of five chapters',
  conversation: 'book',
  policy: 'auto',
  workspace: { workingDirectory },
  worktree: { dir: '../worktrees', branchPattern: '{job}' },
})
for await (const { role, text } of run) if (role === 'assistant') console.log(text)
const { conversationId, outcome } = await run.summary

console.log(`\nThe run is ${outcome}. Its lineage:`)
const lineage = await batonpass.history.lineage(conversationId)
for (const { id, epoch, state, progress } of lineage?.sessions ?? []) {
  console.log(`session ${epoch} (${id}): ${state}, ${progress.turns} turns`)
  const handoff = lineage?.handoffs.find(({ sourceSessionId }) => sourceSessionId === id)
  if (handoff !== undefined) console.log(`  handed on with the checkpoint "${handoff.document}"`)
}

const { worktreePath = '.', branch, baseBranch } = lineage?.conversation.workspace ?? {}
console.log(`\nBranch ${branch}, in ${worktreePath}:`)
console.log(await git(worktreePath, 'log', '--reverse', '--format=%h %s', `${baseBranch}..`))
