Feature: Several agents, one job
  One agent plans, another writes the code, a third looks at it. Each has a runtime of its own. An agent hands the work on
  when its part is done; the next one starts in a fresh window, with the task, the reason, and what the one before left.
  A handoff is carried out like a restart: in the same run, once, and on record with the turn and the tool calls that led
  to it.

  Below, "10 % read_file, to coder" is a turn that calls read_file and asks that the agent "coder" takes over.

  Scenario: The work goes from one agent to the next
    Given these agents take part, in windows of 1000 tokens:
      | agent   | its turns           | its checkpoint      |
      | planner | 10 % plan, to coder | The plan is in A.md |
      | coder   | 10 % edit_file, 15 % |                    |
    When "planner" begins with "Fix the flaky test"
    Then the sessions are of "planner, coder"
    And its sessions are "handed off, completed"
    And handoff 1 was carried out from session 1 to session 2
    And handoff 1 names turn 1 of session 1 and the tools "plan"
    And the checkpoint of handoff 1 is "The plan is in A.md"
    And session 2 is told "Fix the flaky test"
    And session 2 is told "The plan is in A.md"
    And session 2 is told who handed the work over
    And replaying the record gives the sessions and handoffs that are stored

  Scenario: The work comes back
    Given these agents take part, in windows of 1000 tokens:
      | agent   | its turns                | its checkpoint |
      | planner | 10 % plan, to coder      | Planned.       |
      | planner | 10 % look, 15 %          |                |
      | coder   | 10 % edit_file, to planner | Coded.       |
    When "planner" begins with "Fix the flaky test"
    Then the sessions are of "planner, coder, planner"
    And the conversation's handoffs are "completed, completed"
    And session 3 is told "Coded."

  Scenario: Somebody else decides that another agent takes over
    Given these agents take part, in windows of 1000 tokens:
      | agent   | its turns             | its checkpoint |
      | planner | 10 % plan, 20 %, 30 % | Planned.       |
      | coder   | 15 %                  |                |
    When "planner" begins with "Fix the flaky test", and after its turn 1 somebody hands the work to "coder"
    Then the sessions are of "planner, coder"
    And session 1 has 3 answers and 1 tool result on record
    And the checkpoint of handoff 1 is "Planned."

  Scenario: An agent that takes no part is waited for
    Given these agents take part, in windows of 1000 tokens:
      | agent   | its turns              | its checkpoint |
      | planner | 10 % plan, to reviewer | Planned.       |
    When "planner" begins with "Fix the flaky test"
    Then the sessions are of "planner"
    And 1 handoff waits for "reviewer", with the checkpoint "Planned."

  Scenario: Two agents that only hand the work to each other are stopped
    Given these agents take part, in windows of 1000 tokens:
      | agent   | its turns        | its checkpoint |
      | planner | 10 %, to coder   | Yours.         |
      | coder   | 10 %, to planner | Yours.         |
    When "planner" begins with "Fix the flaky test"
    Then its last session has failed, because neither does anything
    And the conversation has 7 handoffs, and the last one failed

  Scenario Outline: A process that is lost after <step> loses nothing of a handoff
    Given these agents take part, in windows of 1000 tokens:
      | agent   | its turns           | its checkpoint |
      | planner | 10 % plan, to coder | Planned.       |
      | coder   | 15 %                |                |
    When "planner" begins with "Fix the flaky test", and its process is lost after <step>
    And the same agents are run again
    Then the sessions are of "planner, coder"
    And the conversation's handoffs are "completed"
    And session 1 has 1 turn

    Examples:
      | step                      |
      | "handoff.initiated"       |
      | "handoff.checkpointed"    |
      | "handoff.accepted"        |
      | "handoff.prepared"        |
      | "handoff.completed"       |
