import type { Workspace } from '../../domain/conversation/conversation.ts'
import type { WorktreePlan } from '../../domain/conversation/worktree.ts'

/** The reasons for which a worktree cannot be made. */
export type WorktreeFailureCode =
  | 'worktree.no_git'
  | 'worktree.no_repository'
  | 'worktree.no_base'
  | 'worktree.branch_in_use'
  | 'worktree.path_taken'
  | 'worktree.failed'

/**
 * A worktree that could not be made. Its code says why.
 *
 * @example
 * ```ts
 * const taken = new WorktreeFailure('worktree.path_taken', 'There is a folder in its place.')
 * console.log(taken.code) // => worktree.path_taken
 * ```
 */
export class WorktreeFailure extends Error {
  override readonly name = 'WorktreeFailure'
  readonly code: WorktreeFailureCode

  constructor(code: WorktreeFailureCode, message: string, options?: ErrorOptions) {
    super(message, options)
    this.code = code
  }
}

/** Makes and finds the worktrees that conversations work in. It changes nothing in a worktree that exists. */
export interface Worktrees {
  /**
   * The place of a plan: the root of its repository, its worktree, its branch, and the branch that it began at. An
   * existing worktree is found, whatever it contains; otherwise it is made, from the branch if that exists.
   *
   * @throws WorktreeFailure when it cannot be made
   */
  place(plan: WorktreePlan): Promise<Workspace>
  /**
   * Makes the worktree of a conversation again if its folder was deleted. An existing folder is left as it is.
   *
   * @throws WorktreeFailure when it cannot be made
   */
  restore(workspace: Workspace): Promise<void>
}
