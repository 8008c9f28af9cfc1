Feature: A budget for restarts
  An agent that fills one window after the other may be lost rather than busy. A conversation has a budget: so many
  restarts, so much money, and none for an agent that gets nowhere. What is spent is counted in the record, so that no
  crash and no other process gives it back. When it is spent the work stops and says why, or carries on without restarts.

  Rule: When the budget is spent the session fails, and the reason is stored

    Scenario: The fourth restart of three
      Given "claude-code" works in windows of 1000 tokens:
        | its turns                      | its checkpoint |
        | 10 % read_file, 90 % edit_file | Not yet done.  |
      When it is run on "Fix the flaky test"
      Then its sessions are "handed off, handed off, handed off, failed"
      And session 4 ended because "The context window is full, and the conversation is not restarted: its 3 restarts are used up."
      And the conversation's handoffs are "completed, completed, completed"

    Scenario: A window that is full again at once ends the work
      Given "claude-code" works in windows of 1000 tokens:
        | its turns                      | its checkpoint |
        | 10 % read_file, 90 % edit_file | Not yet done.  |
        | 90 % edit_file                 |                |
      When it is run on "Fix the flaky test"
      Then its sessions are "handed off, failed"
      And session 2 ended because "The context window is full, and the conversation is not restarted: restarting it gets nowhere: its window is full again before anything was done."

    Scenario: Windows and checkpoints cost money
      Given "claude-code" works in windows of 1000 tokens:
        | its turns                      | its checkpoint |
        | 10 % read_file, 90 % edit_file | Not yet done.  |
      And each window costs 0.4 dollars and each checkpoint 0.2
      And the conversation may cost 1.1 dollars
      When it is run on "Fix the flaky test"
      Then its sessions are "handed off, paused"
      And the conversation's handoffs are "completed, failed"
      When it is run again
      Then its sessions are "handed off, paused"

    Scenario: Every request is counted, and the one that reaches the cap is the last
      Given "claude-code" works in windows of 1000 tokens:
        | its turns                                                | its checkpoint |
        | 10 % read_file, 15 % edit_file, 20 % edit_file, 25 %     |                |
      And each request costs 0.4 dollars
      And the conversation may cost 1.1 dollars
      When it is run on "Fix the flaky test"
      Then session 1 has 3 answers and 2 tool results on record
      And the conversation has cost 1.2 dollars
      And its sessions are "paused"
      When it is run again
      Then the conversation has cost 1.2 dollars
      And its sessions are "paused"

    Scenario: What the tools of the last turn answer is on record
      Given "claude-code" works in windows of 1000 tokens:
        | its turns                                  | its checkpoint |
        | 10 % read_file, 90 % edit_file + run_tests |                |
      And the conversation may be restarted 0 times
      When it is run on "Fix the flaky test"
      Then its sessions are "failed"
      And session 1 has 2 answers and 3 tool results on record

  Rule: Money that is spent pauses the session, and more money resumes it

    Scenario: A process was lost with a full window and all of the money spent
      Given "claude-code" works in windows of 1000 tokens:
        | its turns                  | its checkpoint |
        | 90 % edit_file, 95 %       | Half is done.  |
        | 10 % read_file, 15 %       |                |
      And each request costs 0.4 dollars
      And the conversation may cost 0.3 dollars
      When it is run on "Fix the flaky test", and its process is lost after its first turn
      And the orphaned work is recovered
      Then its sessions are "paused"
      And the conversation has cost 0.4 dollars
      Given the conversation may cost 5 dollars
      When it is run again
      Then its sessions are "handed off, completed"
      And session 2 is told "Half is done."

  Rule: An agent that says nothing does not keep its run waiting

    Scenario: A silent agent is ended, and what it had said is on record
      Given "claude-code" works in windows of 1000 tokens:
        | its turns                      | its checkpoint |
        | 10 % read_file, 15 % edit_file |                |
      And it falls silent after 1 answer
      And an agent may say nothing for 50 milliseconds
      When it is run on "Fix the flaky test"
      Then its sessions are "failed"
      And session 1 ended because "The agent said nothing for 50 ms, and was ended."
      And session 1 has 1 answer and 1 tool result on record

  Rule: With "carry on" the work continues when the budget is spent

    Scenario: No more restarts, and the run continues
      Given "claude-code" works in windows of 1000 tokens:
        | its turns                                             | its checkpoint |
        | 10 % read_file, 90 % edit_file                        | Half is done.  |
        | 10 % read_file, 90 % edit_file, 95 % edit_file, 96 %  |                |
      And the conversation may be restarted 1 time
      And once its budget is spent it carries on
      When it is run on "Fix the flaky test"
      Then its sessions are "handed off, completed"
      And session 2 has 4 turns

  Rule: The count is in the record

    Scenario: The count outlives the process
      Given "claude-code" works in windows of 1000 tokens:
        | its turns                      | its checkpoint |
        | 10 % read_file, 90 % edit_file | Not yet done.  |
      And the conversation may be restarted 1 time
      When it is run on "Fix the flaky test", and its process is lost after the handoff is completed
      And the orphaned work is recovered
      Then its sessions are "handed off, failed"
      And session 2 ended because "The context window is full, and the conversation is not restarted: its one restart is used up."

    Scenario: Another run of the same task has none left either, and launches nothing
      Given "claude-code" works in windows of 1000 tokens:
        | its turns                      | its checkpoint |
        | 10 % read_file, 90 % edit_file | Not yet done.  |
      And the conversation may be restarted 1 time
      When it is run on "Fix the flaky test"
      And it is run again
      Then its sessions are "handed off, failed"
      And the conversation's handoffs are "completed"
