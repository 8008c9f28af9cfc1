Feature: A store that was set back
  A server is lost, and its standby takes over without the last commits; or somebody restores an older copy. Then the store
  has less than it acknowledged. A process that was answered with more notices at its next command: it fails, says what it
  had and what is there, and builds nothing on the rest. What to do is for a person to decide.

  Background:
    Given "claude-code" is working on a conversation
    And it has done 2 turns

  Rule: What was acknowledged and is gone is noticed

    Scenario: The holder of a session has more turns than the store
      Given the next commit will be acknowledged, and lost with its server
      When "claude-code" does 1 turn
      And "claude-code" does 1 turn
      Then the caller is told that the store was set back, which is not to be tried again
      And the failure names "turns 3" and "turns 2"
      And nothing was stored

    Scenario: A command that was acknowledged does not act again
      Given the next commit will be acknowledged, and lost with its server
      When "claude-code" does 1 turn
      And the same command is sent again
      Then the caller is told that the store was set back, which is not to be tried again
      And nothing was stored

    Scenario: A handoff that was acknowledged is not there
      Given the next commit will be acknowledged, and lost with its server
      When "claude-code" hands the conversation to "opus"
      And "claude-code" does 1 turn
      Then the caller is told that the store was set back, which is not to be tried again
      And nothing was stored
