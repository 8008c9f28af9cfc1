Feature: Continuing in a fresh window
  A window fills while the work is under way. Batonpass then asks the agent for a checkpoint, while it still knows what it has
  done, and continues in a fresh session: same agent, same conversation, the original task word for word, and the checkpoint.
  What led to it is on record: the turn, the tool calls, and what became of asking.

  Below, a window is written turn by turn: "90 % edit_file" is a turn that calls edit_file and leaves the window 90 % full.

  Rule: A full window leads to a checkpoint, and the checkpoint to a fresh window

    Scenario: The work continues where it stopped
      Given "claude-code" works in windows of 1000 tokens:
        | its turns                      | its checkpoint |
        | 10 % read_file, 90 % edit_file | Half is done.  |
        | 10 % read_file, 15 %           | Nothing.       |
      When it is run on "Fix the flaky test"
      Then its sessions are "handed off, completed"
      And handoff 1 leads from session 1 to session 2
      And handoff 1 names turn 2 of session 1 and the tools "read_file, edit_file"
      And the checkpoint of handoff 1 is "Half is done."
      And handoff 1 is flagged ""
      And session 1 begins with "Fix the flaky test"
      And session 2 begins with "Fix the flaky test"
      And session 2 is told "Half is done."
      And the agent of session 2 was launched with what is stored for it
      And replaying the record gives the sessions and handoffs that are stored

    Scenario: A program that follows the run sees where one window ends and the next begins
      Given "claude-code" works in windows of 1000 tokens:
        | its turns                      | its checkpoint |
        | 10 % read_file, 90 % edit_file | Half is done.  |
        | 10 % read_file, 15 %           | Nothing.       |
      When it is run on "Fix the flaky test", and somebody follows
      Then they see what session 1 says, then that it was handed to session 2, then what that one says

    Scenario: The new session is the one at work
      Given "claude-code" works in two ordinary windows
      When it is run on "Fix the flaky test", up to its window 2
      Then session 2 is at work
      And its sessions are "handed off, active"

    Scenario: After two restarts only the second checkpoint counts
      Given "claude-code" works in windows of 1000 tokens:
        | its turns                      | its checkpoint      |
        | 10 % read_file, 90 % edit_file | A third is done.    |
        | 10 % read_file, 90 % edit_file | Two thirds are done. |
        | 10 % read_file, 15 %           |                     |
      When it is run on "Fix the flaky test"
      Then its sessions are "handed off, handed off, completed"
      And handoff 2 leads from session 2 to session 3
      And session 3 begins with "Fix the flaky test"
      And session 3 is told "Two thirds are done."
      And session 3 is not told "A third is done."

    Scenario Outline: The threshold is reached when it is reached exactly
      Given "claude-code" works in windows of 200000 tokens:
        | its turns                                | its checkpoint |
        | 10 % read_file, <full> % edit_file, 95 % | Half is done.  |
        | 10 % read_file                           |                |
      And it is restarted at 90 percent
      When it is run on "Fix the flaky test"
      Then its sessions are "<sessions>"

      Examples:
        | full    | sessions              |
        | 90      | handed off, completed |
        | 89.9995 | completed             |
        | 85      | completed             |

    Scenario: The turn that fills the window and the handoff are stored together
      Given "claude-code" works in two ordinary windows
      When it is run on "Fix the flaky test"
      Then the turn that filled the window, its milestone and the handoff were stored in one commit

  Rule: An agent is restarted only when it must be, and nothing is cut off

    Scenario: An agent that is done is not restarted
      Given "claude-code" works in windows of 1000 tokens:
        | its turns            | its checkpoint |
        | 10 % read_file, 99 % | Done.          |
      When it is run on "Fix the flaky test"
      Then its sessions are "completed"
      And the conversation's handoffs are ""

    Scenario: An agent that finishes before it can be interrupted is not restarted either
      Given "claude-code" works in windows of 1000 tokens:
        | its turns            | its checkpoint |
        | 90 % edit_file, 91 % | Done.          |
      And it does not let itself be interrupted
      When it is run on "Fix the flaky test"
      Then its sessions are "completed"
      And session 1 has 1 turn
      And session 1 has 2 answers and 1 tool result on record
      And the conversation's handoffs are "cancelled"
      And the handoff ended because "The work was finished before a fresh window was needed."

    Scenario: Every tool that was called may answer first
      Given "claude-code" works in windows of 1000 tokens:
        | its turns                           | its checkpoint |
        | 90 % lint + test + build, 95 % edit |                |
        | 10 % read_file                      |                |
      And asked for its checkpoint, it names the tools that have answered
      When it is run on "Fix the flaky test"
      Then the checkpoint of handoff 1 is "Finished: lint, test, build"
      And its sessions are "handed off, completed"

    Scenario: What the tools of the last turn answered is on record with it
      Given "claude-code" works in windows of 1000 tokens:
        | its turns                                | its checkpoint |
        | 10 % read_file, 90 % lint + test + build | Half is done.  |
        | 10 % read_file, 15 %                     |                |
      When it is run on "Fix the flaky test"
      Then its sessions are "handed off, completed"
      And session 1 has 2 turns
      And session 1 has 2 answers and 4 tool results on record
      And the record has 3 "turn extended"
      And replaying the record gives the sessions and handoffs that are stored

    Scenario Outline: While the runtime compacts by itself, nothing is handed off
      Given "claude-code" works in windows of 1000 tokens:
        | its turns | its checkpoint |
        | <turns>   |                |
      When it is run on "Fix the flaky test"
      Then its sessions are "completed"
      And the conversation's handoffs are ""
      And the record has 1 "context compacted"

      Examples:
        | turns                                                             |
        | 10 % read_file, 84 % edit_file, compaction, 30 % read_file, 35 % |
        | 10 % read_file, 99 %, compaction, 8 %                             |

  Rule: Without a checkpoint the next window begins with what is on record, and says so

    Scenario Outline: An agent that gives no checkpoint
      Given "claude-code" works in two ordinary windows
      And asked for its checkpoint, it <does>
      When it is run on "Fix the flaky test"
      Then its sessions are "handed off, completed"
      And handoff 1 has no checkpoint
      And handoff 1 is flagged "minimal continuation, <flag>, recap from record"
      And session 2 begins with "Fix the flaky test"
      And session 2 is told "The session before you left no checkpoint."
      And session 2 is told "inspect the work so far"

      Examples:
        | does                            | flag                 |
        | fails with "prompt is too long" | checkpoint failed    |
        | takes too long                  | checkpoint timed out |
        | answers nothing                 | checkpoint missing   |

    Scenario: A lost checkpoint is not an empty one
      Given "claude-code" works in windows of 1000 tokens:
        | its turns                      | its checkpoint |
        | 10 % run_tests, 90 % edit_file | Half is done.  |
        | 10 % read_file, 15 %           |                |
      And asked for its checkpoint, it fails with "prompt is too long"
      And its tools are used on "src/clock.ts"
      When it is run on "Fix the flaky test"
      Then session 2 is told "put together without a model"
      And session 2 is told "- run_tests: src/clock.ts [call:"
      And session 2 is told "## Files touched"
      And session 2 is told "- My window is 90 % full."

    Scenario: An agent that answered without text is asked once more
      Given "claude-code" works in two ordinary windows
      And asked for its checkpoint, it says nothing the first time
      When it is run on "Fix the flaky test"
      Then the checkpoint of handoff 1 is "Half is done."
      And it was asked 2 times for the checkpoint of handoff 1
      And handoff 1 is flagged ""

    Scenario: A reply that may be no checkpoint is passed on with a warning
      Given "claude-code" works in two ordinary windows, and leaves no checkpoint
      And asked for its checkpoint, it answers:
        """
        I am sorry, I cannot do that.
        """
      When it is run on "Fix the flaky test"
      Then the checkpoint of handoff 1 is "I am sorry, I cannot do that."
      And handoff 1 is flagged "checkpoint unstructured"
      And session 2 is told "inspect the work so far before you rely on it"

    Scenario: The reason for a missing checkpoint is stored
      Given "claude-code" works in two ordinary windows
      And asked for its checkpoint, it fails with "prompt is too long"
      When it is run on "Fix the flaky test"
      Then handoff 1 says why there is none: "prompt is too long"

    Scenario: A session whose window is overfull is not asked for a checkpoint
      Given "claude-code" works in windows of 1000 tokens:
        | its turns                                | its checkpoint   |
        | 10 % read_file, 70 % edit_file, overflow | Never asked for. |
        | 10 % read_file, 15 %                     |                  |
      When it is run on "Fix the flaky test"
      Then its sessions are "handed off, completed"
      And handoff 1 has no checkpoint
      And handoff 1 is flagged "window overflowed, minimal continuation, checkpoint skipped, recap from record"
      And handoff 1 happened because "The context window overflowed: prompt is too long"

  Rule: An agent that writes a checkpoint is told what a good one needs

    Scenario: Calls of the same tool can be told apart
      Given "claude-code" works in windows of 1000 tokens:
        | its turns                                                                               | its checkpoint |
        | 10 % Bash + Bash + Bash, 30 % Bash + Bash + Bash, 50 % Bash + Bash + Bash, 90 % Bash | Half is done.  |
        | 10 % read_file, 15 %                                                                    |                |
      And its tools are used in turn on "ls, git log, git diff, npm ci, npm test, cat a.ts, cat b.ts, git add, git commit, git push"
      When it is run on "Fix the flaky test"
      Then asked for checkpoint 1, it was shown the calls "Bash: ls, Bash: git log, Bash: git diff, Bash: npm ci, Bash: npm test, Bash: cat a.ts, Bash: cat b.ts, Bash: git add, Bash: git commit, Bash: git push"
      And handoff 1 names turn 4 of session 1 and the tools "Bash, Bash, Bash, Bash, Bash, Bash, Bash, Bash, Bash, Bash"

    Scenario: A call that an earlier checkpoint cited can be cited again
      Given "claude-code" works in windows of 1000 tokens:
        | its turns                                   | its checkpoint |
        | 10 % run_tests, 20 % look, 90 % edit_file  |                |
        | 10 % read_file, 90 % edit_file              |                |
        | 10 % read_file, 15 %                        |                |
      And asked for its checkpoint, it answers:
        """
        ## Completed work
        - The tests passed before anything was changed [call:run_tests]
        """
      When it is run on "Fix the flaky test"
      Then asked for checkpoint 1, it was shown the calls "run_tests, look, edit_file"
      And asked for checkpoint 2, it was shown the calls "run_tests, read_file, edit_file"
      And checkpoint 2 cites a call of session 1
      And session 3 is not told "Unverified"

    Scenario: A decision is asked for with its reason
      Given "claude-code" works in two ordinary windows, and leaves no checkpoint
      And asked for its checkpoint, it answers:
        """
        ## Key decisions
        - Keep the old clock, because others use it
        """
      When it is run on "Fix the flaky test"
      Then asked for checkpoint 1, it was told "give the reason with each decision"
      And session 2 is told "Keep the old clock, because others use it"

  Rule: The claims of a checkpoint are compared with the record

    Scenario: Claims that cite no recorded call are passed on as unverified
      Given "claude-code" works in two ordinary windows, and leaves no checkpoint
      And asked for its checkpoint, it answers:
        """
        ## Completed work
        - Read the test [call:read_file]
        - All tests pass
        - Deployed it [call:deploy]
        """
      When it is run on "Fix the flaky test"
      Then of what the checkpoint says was done, 1 cites a recorded call, 1 cites none, and 1 a call that nobody made
      And session 2 is told "Unverified: 1 statement that cites no tool call (line 3)"
      And session 2 is told "1 statement that cites a call not on record (line 4)"

    Scenario: Plans, decisions and file names are not taken for claims
      Given "claude-code" works in two ordinary windows, and leaves no checkpoint
      And asked for its checkpoint, it answers:
        """
        ## Completed work
        - Read the test [call:read_file]
        ## Remaining tasks
        - Mend the clock
        ## Key decisions
        - Keep the old clock, because others use it
        ## Files changed
        - src/clock.ts
        """
      When it is run on "Fix the flaky test"
      Then of what the checkpoint says was done, 1 cites a recorded call, 0 cites none, and 0 a call that nobody made
      And session 2 is not told "Unverified"
      And session 2 is told "do not repeat what is listed as done"

  Rule: A window that fills up comes to a soft landing

    Scenario: The agent ends its unit of work and continues in a fresh window
      Given "claude-code" works in windows of 1000 tokens:
        | its turns                                     | its checkpoint |
        | 10 % read_file, 70 % edit_file, 95 % run_tests | Half is done.  |
        | 10 % read_file, 15 %                          |                |
      And it listens while it works: told to land, it continues with "74 % save_file" and lands
      When it is run on "Fix the flaky test"
      Then its sessions are "handed off, completed"
      And session 1 was told once to bring its work to an end
      And handoff 1 happened because "The agent brought its work to a soft landing, because its window was filling up."
      And handoff 1 names turn 4 of session 1 and the tools "read_file, edit_file, save_file"
      And session 2 is told "Half is done."
      And replaying the record gives the sessions and handoffs that are stored

    Scenario: An agent that does not land is restarted when its window is full
      Given "claude-code" works in windows of 1000 tokens:
        | its turns                                | its checkpoint |
        | 10 % read_file, 70 % edit_file, 90 % lint | Half is done.  |
        | 10 % read_file, 15 %                     |                |
      And it hears what it is told while it works, and takes no notice
      When it is run on "Fix the flaky test"
      Then its sessions are "handed off, completed"
      And session 1 was told once to bring its work to an end

    Scenario: The soft landing can be switched off
      Given "claude-code" works in windows of 1000 tokens:
        | its turns                                | its checkpoint |
        | 10 % read_file, 70 % edit_file, 90 % lint | Half is done.  |
        | 10 % read_file, 15 %                     |                |
      And it hears what it is told while it works, and takes no notice
      And it is not to be told to land
      When it is run on "Fix the flaky test"
      Then session 1 was never told to bring its work to an end

  Rule: Work that was cancelled resumes where it stopped

    Scenario: After Ctrl-C the agent is not given the bare task again
      Given "claude-code" works in windows of 1000 tokens:
        | its turns                            | its checkpoint |
        | 10 % read_file, 20 % edit_file, 30 % |                |
      When it is run on "Fix the flaky test", and cancelled after its first turn
      And it is run again
      Then its sessions are "completed"
      And session 1 was asked "You were stopped here before the task was finished. Continue where you stopped"
