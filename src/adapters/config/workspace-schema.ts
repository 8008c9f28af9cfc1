import { z } from 'zod'
import { branchPatternProblem, branchProblem } from '../../domain/conversation/worktree.ts'
import { checkedText, formOf, problemText, section, textValue, word } from './values.ts'

/** Where a conversation's work is done: in the working directory itself, or in a worktree of its own. */
const WORKSPACE_STRATEGIES = ['none', 'worktree'] as const

const hookInstead = (command: string): string =>
  `Write a hook instead: hooks: { after_run: [{ type: shell, on_events: [completed], command: "${command}" }] }.`

/** Something that other tools do after a run, and that is a hook here. That it is off may be problemText. */
const leftToHooks = (what: string, command: string) =>
  z.literal(false, { error: problemText(`${what} is not done by Batonpass itself`, hookInstead(command)) }).optional()

/** The name of a branch, as git takes it. */
const branchName = checkedText((name) => {
  const problem = branchProblem(name)
  return problem === undefined ? undefined : { problem, advice: 'Write the name of a branch, such as main.' }
}, 'Write the name of a branch, such as main.')

/** Keys about the place of the work. */
export const workspaceSchema = section({
  working_directory: textValue.optional(),
  worktree_path: textValue.optional(),
  branch: branchName.optional(),
  base_branch: branchName.optional(),
  strategy: word(WORKSPACE_STRATEGIES).optional(),
  worktree_dir: textValue.optional(),
  branch_pattern: checkedText(branchPatternProblem, 'Write one such as baton/{job}.').optional(),
  push_on_success: leftToHooks('pushing', 'git push --set-upstream origin HEAD'),
  create_pr: leftToHooks('opening a pull request', 'git push -u origin HEAD && gh pr create --fill'),
})

/** The working directory as people write it elsewhere: a path, or its root and its usual branch. */
export const workingDirectorySchema = formOf(
  (raw) => typeof raw === 'string',
  textValue,
  section({ root: textValue.optional(), default_branch: branchName.optional() }),
)
