Feature: What runs now
  An operator looks after many conversations at once. Before anything else they ask what is under way: which sessions
  have not ended, how full their windows are, and what waits for somebody. The answer comes from the record and costs the
  same however long the history is.

  Scenario: A session at work is shown with the level of its window
    Given "claude-code" is working with a window of 1000 tokens
    When its window is read at "61" percent
    Then "claude-code" is shown as active, with its window 61 percent full
    And 1 signal is shown as waiting for "claude-code"

  Scenario: After a compaction the level is unknown until something is read
    Given "claude-code" is working with a window of 1000 tokens
    And its window is read at "61" percent
    When its runtime reports a compaction
    Then "claude-code" is shown as active, with its window at an unknown level

  Scenario: A session that is being handed off is shown as held
    Given "claude-code" is working on a conversation
    And it has done 1 turn
    When it hands the conversation to "opus"
    Then "claude-code" is shown as held by the handoff

  Scenario: Only the session that has not ended is shown
    Given "claude-code" is working on a conversation
    And it has done 1 turn
    When it hands the conversation to "opus"
    And "opus" takes the handoff
    Then nothing but the session of "opus" is shown as running

  Scenario: Nothing is shown of a conversation in which nobody works
    Given "claude-code" is working on a conversation
    And it has done 1 turn
    When it completes its session
    Then nothing is shown as running
