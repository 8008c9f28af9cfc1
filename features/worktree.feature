Feature: One place for all of the work
  Uncommitted work lies on disk, not in a window. So the working directory, the worktree and its branch belong to the
  conversation: every session of it works in the same place, whichever process launched it, and hooks are told of it too.

  Scenario: Three windows work in one worktree, on one branch
    Given "claude-code" works in windows of 1000 tokens:
      | its turns                      | its checkpoint |
      | 10 % read_file, 90 % edit_file | A third.       |
      | 10 % read_file, 90 % edit_file | Two thirds.    |
      | 10 % read_file, 15 %           |                |
    And its work is done in "/repo", in the worktree "/repo/.worktrees/fix" on the branch "fix"
    And a hook at the start of a session that says where the work is done
    When it is run on "Fix the flaky test"
    Then its sessions are "handed off, handed off, completed"
    And the conversation works in "/repo", in the worktree "/repo/.worktrees/fix" on the branch "fix"
    And the agent of session 1 says "I work in /repo, in the worktree /repo/.worktrees/fix on fix."
    And the agent of session 2 says "I work in /repo, in the worktree /repo/.worktrees/fix on fix."
    And the agent of session 3 says "I work in /repo, in the worktree /repo/.worktrees/fix on fix."
    And session 1 begins with the output of hooks, set apart: "Hooks run in /repo/.worktrees/fix, in the worktree /repo/.worktrees/fix on fix."
    And session 2 begins with the output of hooks, set apart: "Hooks run in /repo/.worktrees/fix, in the worktree /repo/.worktrees/fix on fix."
    And session 3 begins with the output of hooks, set apart: "Hooks run in /repo/.worktrees/fix, in the worktree /repo/.worktrees/fix on fix."

  Scenario: A hook at the threshold is told of the repository, of the worktree, and how full the window is
    Given "claude-code" works in windows of 1000 tokens:
      | its turns                            | its checkpoint |
      | 10 % read_file, 92 % edit_file, 95 % |                |
    And its work is done in "/repo", in the worktree "/repo/.worktrees/fix" on the branch "fix"
    And a hook at the threshold that answers "continue" once it is told of "/repo", of "/repo/.worktrees/fix" and of a window of which 0.92 is used and 0.08 remains
    When it is run on "Fix the flaky test"
    Then its sessions are "completed"
    And these hooks are in the record:
      | when             | session | how it went |
      | at the threshold | 1       | answered    |

  Scenario: The branch that the work began at is kept with it
    Given "claude-code" works in windows of 1000 tokens:
      | its turns            | its checkpoint |
      | 10 % read_file, 15 % |                |
    And its work is done in "/repo" on the branch "fix", which began at "main"
    When it is run on "Fix the flaky test"
    Then the conversation works on the branch "fix", which began at "main"

  Scenario: A recovered session works there too
    Given "claude-code" works in two ordinary windows
    And its work is done in "/repo", in the worktree "/repo/.worktrees/fix" on the branch "fix"
    When it is run on "Fix the flaky test", and its process is lost after the handoff is completed
    And the orphaned work is recovered
    Then its sessions are "handed off, completed"
    And the agent of session 2 says "I work in /repo, in the worktree /repo/.worktrees/fix on fix."
