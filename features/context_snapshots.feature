Feature: Snapshots of the context window
  What an agent knew when it decided something is what its window held at that moment. A snapshot answers that
  question later: so many messages of each kind, these tool calls in view, this reading of the tokens. It is computed
  from what was recorded, never reported by the agent, and it never changes afterwards.

  Scenario Outline: A snapshot counts the messages of each kind
    Given "claude-code" is working on a conversation
    And its window holds <user> user, <assistant> assistant, <tool> tool and <system> system messages
    When a snapshot of its window is taken
    Then the snapshot of "claude-code"'s window counts <user> user, <assistant> assistant, <tool> tool and <system> system messages
    And the snapshot of "claude-code"'s window counts <total> messages in all

    Examples:
      | user | assistant | tool | system | total |
      |    3 |         2 |    1 |      0 |     6 |
      |    1 |         1 |    0 |      1 |     3 |
      |    0 |         0 |    0 |      0 |     0 |

  Scenario: The first snapshot has the opening prompt, and the tokens are unknown rather than zero
    Given a conversation about "Fix the flaky test"
    When "claude-code" starts a session with the prompt "Start with the timeouts"
    Then message 1 is a user message that says "Start with the timeouts"
    And the snapshots of "claude-code"'s window are for "session start"
    And the snapshot of "claude-code"'s window counts 1 user, 0 assistant, 0 tool and 0 system messages
    And the snapshot of "claude-code"'s window does not know the tokens

  Scenario: A handoff keeps what the source had in view, and the successor starts with its continuation alone
    Given "claude-code" is working on a conversation
    And it has done these turns:
      | answering | tools     |
      | user      | read_file |
      | user      | run_tests |
    When it hands the conversation to "opus"
    And "opus" takes the handoff
    Then the snapshots of "claude-code"'s window are for "session start, handoff initiated"
    And the snapshot of "claude-code"'s window covers the messages 1 to 4
    And the tool calls in view of "claude-code" are "read_file, run_tests"
    And the snapshots of "opus"'s window are for "session start"
    And the snapshot of "opus"'s window counts 1 user, 0 assistant, 0 tool and 0 system messages
    And the snapshot of "opus"'s window covers the messages 5 to 5
    And the tool calls in view of "opus" are ""

  Scenario: An earlier snapshot stays as it was while the work continues
    Given "claude-code" is working on a conversation
    And it has done these turns:
      | answering | tools     |
      | user      | read_file |
    And a snapshot of its window is taken
    When it has done these turns:
      | answering | tools     |
      | tool      | run_tests |
    And a snapshot of its window is taken
    And it completes its session
    And a snapshot of its window is taken
    Then the snapshots of "claude-code"'s window show:
      | messages | tools in view        |
      |        0 |                      |
      |        2 | read_file            |
      |        4 | read_file, run_tests |
      |        4 | read_file, run_tests |

  Scenario: A later reading of the tokens replaces the one before
    Given "claude-code" is working on a conversation
    And it has done a turn that sent 12000 tokens and added 300
    And it has done a turn that sent 12900 tokens and added 450
    When a snapshot of its window is taken
    Then the snapshot of "claude-code"'s window says that 12900 tokens were sent and 450 added
