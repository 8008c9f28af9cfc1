Feature: Looking back in a run
  A run takes an agent through as many windows as its work needs. Where the runtime takes tools, every window after the
  first has the tool look_back: the agent looks up what its checkpoint leaves out, and is told so in one sentence. It sees
  its own conversation only. What it asked is on record, and nothing is served once the run is over.

  Rule: Every continued session can look up what its checkpoint leaves out

    Scenario: A call that the first window cites is read in the third
      Given "claude-code" works in windows of 40000 tokens:
        | its turns                      | its checkpoint |
        | 10 % read_file, 90 % edit_file | Half is done.  |
        | 10 % list_files, 90 % run_tests | More is done.  |
        | 10 % look_back, 15 %           |                |
      And its tool "read_file" answers "if (today.isMonday()) retry()"
      And it takes tools, and looks up the call of "read_file" that window 1 made
      When it is run on "Fix the flaky test"
      Then its sessions are "handed off, handed off, completed"
      And session 2 is told "the tool `look_back` of the MCP server `baton_run`"
      And session 3 is told "the tool `look_back` of the MCP server `baton_run`"
      And session 3 is not told "today.isMonday"
      And the tool look_back told session 3 "| if (today.isMonday()) retry()"
      And session 3 has asked about the call of "read_file" of session 1, and no other question is on record
      And nothing of the run can be reached any more

    Scenario: A first window has nothing to look back at
      Given "claude-code" works in windows of 40000 tokens:
        | its turns            | its checkpoint |
        | 10 % look_back, 15 % |                |
      And it takes tools, and looks up the words "retry"
      When it is run on "Fix the flaky test"
      Then its sessions are "completed"
      And the tool look_back told session 1 "There is no such tool."
      And no question is on record

  Rule: An agent that does not want it, or cannot have it, works without

    Scenario: It is switched off
      Given "claude-code" works in windows of 40000 tokens:
        | its turns                      | its checkpoint |
        | 10 % read_file, 90 % edit_file | Half is done.  |
        | 10 % look_back, 15 %           |                |
      And it takes tools, and looks up the words "retry"
      And it is not to look back
      When it is run on "Fix the flaky test"
      Then its sessions are "handed off, completed"
      And session 2 is not told "look_back"
      And the tool look_back told session 2 "There is no such tool."
      And no question is on record

    Scenario: The tool cannot be served
      Given "claude-code" works in windows of 40000 tokens:
        | its turns                      | its checkpoint |
        | 10 % read_file, 90 % edit_file | Half is done.  |
        | 10 % look_back, 15 %           |                |
      And it takes tools, and looks up the words "retry"
      And no tool can be served
      When it is run on "Fix the flaky test"
      Then its sessions are "handed off, completed"
      And session 2 is told "Half is done."
      And session 2 is not told "look_back"
      And no question is on record

  Rule: A run that another process finishes looks back as well

    Scenario: The process is lost when the continuation was stored
      Given "claude-code" works in windows of 40000 tokens:
        | its turns                      | its checkpoint |
        | 10 % read_file, 90 % edit_file | Half is done.  |
        | 10 % look_back, 15 %           |                |
      And its tool "read_file" answers "retry on Mondays"
      And it takes tools, and looks up the words "Mondays"
      When it is run on "Fix the flaky test", and its process is lost after the continuation
      And the orphaned work is recovered
      Then its sessions are "handed off, completed"
      And session 2 is told "the tool `look_back` of the MCP server `baton_run`"
      And the tool look_back told session 2 "| retry on Mondays"
