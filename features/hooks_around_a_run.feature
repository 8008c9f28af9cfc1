Feature: Hooks around a run
  People have their own ideas about a full window, and their own things to tell a new session. Hooks are called at such
  moments. Threshold hooks take the place of the built-in restart; what session-start hooks say stands before the prompt.
  The record says which hooks were called, about which session, and how it went; never what they were told.

  Rule: Threshold hooks decide about a full window

    Scenario: A hook that says "continue" lets the session continue
      Given "claude-code" works in windows of 1000 tokens:
        | its turns                                            | its checkpoint |
        | 10 % read_file, 90 % edit_file, 95 % edit_file, 96 % | Half is done.  |
      And a hook at the threshold that answers "continue"
      When it is run on "Fix the flaky test"
      Then its sessions are "completed"
      And session 1 has 4 turns
      And the conversation's handoffs are ""
      And these hooks are in the record:
        | when             | session | how it went |
        | at the threshold | 1       | answered    |

    Scenario Outline: A hook that says "abort", or nothing, leads to a new session without a checkpoint
      Given "claude-code" works in windows of 1000 tokens:
        | its turns                      | its checkpoint   |
        | 10 % read_file, 90 % edit_file | Never asked for. |
        | 10 % read_file, 15 %           |                  |
      And a hook at the threshold that <says>
      When it is run on "Fix the flaky test"
      Then its sessions are "handed off, completed"
      And handoff 1 names turn 2 of session 1 and the tools "read_file, edit_file"
      And handoff 1 has no checkpoint
      And handoff 1 is flagged "decided by hook, minimal continuation, checkpoint skipped, recap from record"

      Examples:
        | says            |
        | answers "abort" |
        | says nothing    |

    Scenario: One "abort" outweighs every "continue"
      Given "claude-code" works in windows of 1000 tokens:
        | its turns                      | its checkpoint   |
        | 10 % read_file, 90 % edit_file | Never asked for. |
        | 10 % read_file, 15 %           |                  |
      And a hook at the threshold that answers "abort"
      And a hook at the threshold that answers "continue"
      When it is run on "Fix the flaky test"
      Then its sessions are "handed off, completed"
      And handoff 1 happened because "A threshold hook asked for a new session."

    Scenario: When all of them fail, the built-in restart takes place
      Given "claude-code" works in two ordinary windows
      And a hook at the threshold that fails
      When it is run on "Fix the flaky test"
      Then its sessions are "handed off, completed"
      And the checkpoint of handoff 1 is "Half is done."
      And handoff 1 is flagged ""
      And these hooks are in the record:
        | when             | session | how it went |
        | at the threshold | 1       | failed      |

    Scenario: The budget also limits restarts that hooks decide
      Given "claude-code" works in windows of 1000 tokens:
        | its turns                            | its checkpoint |
        | 10 % read_file, 90 % edit_file, 95 % |                |
      And the conversation may be restarted 0 times
      And a hook at the threshold that answers "abort"
      When it is run on "Fix the flaky test"
      Then its sessions are "failed"
      And the conversation's handoffs are ""

  Rule: The output of session-start hooks stands before the prompt, set apart: it is not the person who speaks

    Scenario: In every session, the first and those that continue it
      Given "claude-code" works in two ordinary windows
      And a hook at the start of a session that answers "Use pnpm here."
      When it is run on "Fix the flaky test"
      Then session 1 begins with the output of hooks, set apart: "Use pnpm here."
      And session 1 is told "Fix the flaky test"
      And session 2 begins with the output of hooks, set apart: "Use pnpm here."
      And session 2 is told "Fix the flaky test"
      And session 2 is told "Half is done."

    Scenario: Session-start hooks know what came before
      Given "claude-code" works in windows of 1000 tokens:
        | its turns                      | its checkpoint |
        | 10 % read_file, 90 % edit_file | A third.       |
        | 10 % read_file, 90 % edit_file | Two thirds.    |
        | 10 % read_file, 15 %           |                |
      And a hook at the start of a session that says what came before
      When it is run on "Fix the flaky test"
      Then session 1 begins with the output of hooks, set apart: "The beginning."
      And session 2 begins as restart 1, after session 1
      And session 3 begins as restart 2, after session 2

    Scenario: A required hook that fails ends the run before anything is launched
      Given "claude-code" works in windows of 1000 tokens:
        | its turns            | its checkpoint |
        | 10 % read_file, 15 % |                |
      And a hook at the start of a session that fails and must not
      When it is run on "Fix the flaky test"
      Then its sessions are ""
      And these hooks are in the record:
        | when                      | session | how it went |
        | at the start of a session | none    | failed      |

  Rule: The record has the result of each hook

    Scenario: A hook that fails at the end harms nobody
      Given "claude-code" works in two ordinary windows
      And a hook at the start of a session that answers "The password is swordfish."
      And a hook after a handoff that says nothing
      And a hook after a run that fails
      And a hook on an error that says nothing
      When it is run on "Fix the flaky test"
      Then its sessions are "handed off, completed"
      And these hooks are in the record:
        | when                      | session | how it went |
        | at the start of a session | 1       | answered    |
        | at the start of a session | 2       | answered    |
        | after a handoff           | 2       | answered    |
        | after a run               | 2       | failed      |
      And the record does not mention "swordfish"
      And replaying the record gives the sessions and handoffs that are stored
