Feature: A successor can look back
  A checkpoint cannot hold everything. What it leaves out is still on record, so every session may look it up: what
  earlier windows of its own conversation said and did, by the call that a checkpoint cites, by turn, by file or by words.
  The answer is paged and has a bound, so that it never fills the new window. What was asked is on record too: a
  checkpoint whose successor asks a lot was too thin.

  Rule: What the checkpoint leaves out can be looked up

    Scenario: A call that was made two windows ago is read with its result
      Given "claude-code" is working on "Fix the flaky test"
      And it calls "Read" on "src/flaky.ts" as "toolu_01", and the result is "if (today.isMonday()) retry()"
      And the conversation has passed to "opus"
      And it has done 1 turn
      And the conversation has passed to "haiku"
      When "haiku" looks back at the call "[call:toolu_01]"
      Then it finds the recorded result "if (today.isMonday()) retry()" in window 1
      And the questions on record are:
        | window | by   | what     | found |
        | 3      | call | toolu_01 | 2     |

    Scenario: Words and files are found in earlier windows, the newest first
      Given "claude-code" is working on "Fix the flaky test"
      And it calls "Read" on "src/flaky.ts" as "toolu_01", and the result is "retry on Mondays"
      And the conversation has passed to "opus"
      And it calls "Edit" on "src/Flaky.ts" as "toolu_02", and the result is "Done: no more retry"
      And the conversation has passed to "haiku"
      When "haiku" looks back for the words "RETRY"
      Then it finds the recorded texts "Done: no more retry, retry on Mondays"
      When "haiku" looks back for the file "flaky.ts"
      Then it finds the recorded calls "toolu_02, toolu_01"
      And the questions on record are:
        | window | by    | what     | found |
        | 3      | words | RETRY    | 2     |
        | 3      | file  | flaky.ts | 2     |

    Scenario: A result that was never recorded is said to be missing
      Given "claude-code" is working on "Fix the flaky test"
      And it calls "Bash" on "npm test" as "toolu_01", and no result comes
      And the conversation has passed to "opus"
      When "opus" looks back at the call "toolu_01"
      Then it is told that no result of the call is on record

  Rule: A session sees its own conversation and no other

    Scenario: A thread does not see the conversation that it came from
      Given "claude-code" is working on "Fix the flaky test"
      And it calls "Read" on "src/flaky.ts" as "toolu_01", and the result is "retry on Mondays"
      When it opens a thread for "helper", leaving the note "Is the clock right?"
      And "helper" looks back at the call "toolu_01"
      Then it finds nothing, and the question is on record in its thread

  Rule: What was asked tells which checkpoints were too thin

    Scenario: A question is on record with the handoff that its session came from
      Given "claude-code" is working on "Fix the flaky test"
      And it has done 1 turn
      And the conversation has passed to "opus"
      When "opus" looks back for the words "database password"
      Then the handoff to "opus" is the one whose successor looked back 1 time
      And replaying the record gives the sessions and handoffs that are stored

    Scenario: The answer is given when the question cannot be put on record
      Given "claude-code" is working on "Fix the flaky test"
      And it calls "Read" on "src/flaky.ts" as "toolu_01", and the result is "retry on Mondays"
      And the conversation has passed to "opus"
      And the store will be down for a moment
      When "opus" looks back at the call "toolu_01"
      Then it finds the recorded result "retry on Mondays" in window 1
      And no question is on record
