Feature: One agent delegates, several work at the same time
  A planner need not do everything itself, nor hand its work away. It delegates pieces of it: each is a thread, a
  conversation of its own, in which another agent works at the same time. When the planner is idle, it is told how
  each thread came out, and continues. Every outcome is on record once, as a message that names the handoff of its thread.

  Below, "10 % plan, delegates Write the parser to coder" is a turn that calls plan and delegates that task to the agent
  "coder"; the agent then becomes idle, and its next turn follows what it is told.

  Scenario: Two pieces are done at the same time, and both are reported
    Given these agents take part, in windows of 1000 tokens:
      | agent   | its turns                                                                             | its checkpoint |
      | planner | 10 % plan, delegates Write the parser to coder, delegates Write the tests to coder, 20 % |             |
      | coder   | 10 % edit_file, 15 %                                                                   |                |
    When "planner" begins with "Build the importer"
    Then the sessions are of "planner"
    And its sessions are "completed"
    And the conversation has these threads:
      | task             | agent | session   |
      | Write the parser | coder | completed |
      | Write the tests  | coder | completed |
    And handoff 1 names turn 1 of session 1 and the tools "plan"
    And session 1 is told the outcome of each thread, once
    And the outcome of thread 1 has the words "My window is 15 % full."
    And replaying the record gives the sessions and handoffs that are stored

  Scenario: A thread delegates as well
    Given these agents take part, in windows of 1000 tokens:
      | agent   | its turns                                            | its checkpoint |
      | planner | 10 % plan, delegates Write the parser to coder, 20 %  |                |
      | coder   | 10 % edit_file, delegates Check it to tester, 15 %    |                |
      | tester  | 12 % run_tests                                        |                |
    When "planner" begins with "Build the importer"
    Then the conversation has these threads:
      | task             | agent | session   |
      | Write the parser | coder | completed |
    And its thread 1 has the thread "Check it" of "tester"
    And session 1 is told the outcome of each thread, once

  Scenario: A thread whose agent fails is reported too
    Given these agents take part, in windows of 1000 tokens:
      | agent   | its turns                                           | its checkpoint |
      | planner | 10 % plan, delegates Write the parser to coder, 20 % |                |
      | coder   | 10 % edit_file, overflow                             |                |
    And the agents get no fresh windows
    When "planner" begins with "Build the importer"
    Then its sessions are "completed"
    And the conversation has these threads:
      | task             | agent | session |
      | Write the parser | coder | failed  |
    And the outcome of thread 1 has the words "has failed"

  Scenario: No more threads than may be open
    Given these agents take part, in windows of 1000 tokens:
      | agent   | its turns                                                                      | its checkpoint |
      | planner | 10 % plan, delegates Write A to coder, delegates Write B to coder, 20 %          |                |
      | coder   | 15 %                                                                            |                |
    And only 1 thread may be open
    When "planner" begins with "Build the importer"
    Then the conversation has these threads:
      | task    | agent | session   |
      | Write A | coder | completed |

  Scenario Outline: A process that is lost after <step> loses no thread
    Given these agents take part, in windows of 1000 tokens:
      | agent   | its turns                                           | its checkpoint |
      | planner | 10 % plan, delegates Write the parser to coder, 20 % |                |
      | coder   | 10 % edit_file, 15 %                                 |                |
    When "planner" begins with "Build the importer", and its process is lost after <step>
    And the same agents are run again
    Then its sessions are "completed"
    And the conversation has these threads:
      | task             | agent | session   |
      | Write the parser | coder | completed |
    And session 1 is told the outcome of each thread, once

    Examples:
      | step                 |
      | "handoff.completed"  |
      | "session.taken_over" |
      | "session.completed"  |
