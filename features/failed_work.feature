Feature: A failure is recorded as a failure
  An agent says how its work ended with a result, and with its exit code. Neither can hide the failure that the other tells.

  Scenario Outline: What the end of a program means
    Given "my-agent" is a program of one's own:
      | it prints | exit code |
      | <prints>  | <code>    |
    When it is run on "Fix the flaky test"
    Then its sessions are "<state>"

    Examples:
      | prints                                      | code | state     |
      | an answer, a good result                    | 0    | completed |
      | an answer                                   | 0    | completed |
      | an answer, the error "The key is not valid" | 0    | failed    |
      | an answer, the error "The key is not valid" | 1    | failed    |
      | an answer, a good result                    | 1    | failed    |
      | an answer, a line of 65 MiB                 | 0    | failed    |
      | an answer, a line of 65 MiB, a good result  | 0    | completed |

  Scenario: The words of the failure are on record
    Given "my-agent" is a program of one's own:
      | it prints                                   | exit code |
      | an answer, the error "The key is not valid" | 0         |
    When it is run on "Fix the flaky test"
    Then session 1 ended because "The key is not valid"

  Scenario: A line that is too long is on record as cut
    Given "my-agent" is a program of one's own:
      | it prints        | exit code |
      | a line of 65 MiB | 0         |
    When it is run on "Fix the flaky test"
    Then session 1 has 1 turn
    And the agent of session 1 says "This line of the agent was cut"
    And its sessions are "failed"

  Scenario: A prompt that is too long leads to a fresh window
    Given "my-agent" is a program of one's own:
      | it prints                                 | exit code |
      | an answer, the error "Prompt is too long" | 0         |
      | an answer, a good result                  | 0         |
    When it is run on "Fix the flaky test"
    Then its sessions are "handed off, completed"
    And handoff 1 is flagged "window overflowed, no progress, minimal continuation, checkpoint skipped, recap from record"
    And handoff 1 happened because "The context window overflowed: Prompt is too long"
