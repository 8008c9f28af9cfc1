Feature: One look at last night
  Agents work while their person sleeps. In the morning the person asks one question: what became of each job, what did it
  cost, what failed and why, and what waits for whom? A thread counts with the job it belongs to.

  Scenario: A job that failed is told with the reason
    Given "claude-code" is working on a conversation
    And it has done 1 turn
    When it gives its session up because "The disk is full"
    Then the report tells of a failed job, because "The disk is full"

  Scenario: A job that waits for another agent is told with its name
    Given "claude-code" is working on a conversation
    And it has done 1 turn
    When it hands the conversation to "opus"
    Then the report tells of a job that waits for "opus"

  Scenario: A job that was taken over is told once, with both agents
    Given "claude-code" is working on a conversation
    And it has done 1 turn
    When it hands the conversation to "opus"
    And "opus" takes the handoff
    Then the report tells of one job with 2 windows, of "claude-code" and "opus"

  Scenario: The cost of a job is that of its windows and checkpoints
    Given "claude-code" works in two ordinary windows
    And each window costs 0.5 dollars and each checkpoint 0.25
    When it is run on "Fix the flaky test"
    Then the report tells of a finished job with 1 restart, for 1.25 dollars

  Scenario: A job whose process is gone is told as orphaned
    Given "claude-code" works in two ordinary windows
    When it is run on "Fix the flaky test", and its process is lost after the checkpoint
    Then the report tells of an orphaned job
