Feature: A second prompt, and a third
  A conversation is a thread: a chat, an issue, a job. A person asks for one thing, reads the answer, and asks for the
  next. The task of a run is its own prompt. Earlier requests are history, and history is never summarised away.

  While the runtime still has the session, the next prompt goes into it: a new session on our record, in the same window,
  and no handoff between. When the window is nearly full, too old, or gone, the next prompt starts in a fresh window from
  the record: every request, the last checkpoint, and the last answer.

  Below, "rest" after a turn means that the agent has answered and waits for the next prompt.

  Rule: The next prompt resumes the session that remembers the work

    Scenario: Two prompts, one window
      Given "claude-code" works in windows of 1000 tokens:
        | its turns                            | its checkpoint |
        | 10 % read_file, rest, 20 % edit_file |                |
      When it is run on "Fix the flaky test"
      And it is run on "Now write the docs"
      Then its sessions are "completed, completed"
      And sessions 1 and 2 share a window
      And there is no handoff
      And session 2 is told "Now write the docs" and nothing else
      And the task of the conversation is "Now write the docs"

    Scenario: A window that is nearly full is not filled further
      Given "claude-code" works in windows of 1000 tokens:
        | its turns            | its checkpoint |
        | 10 % read_file, 86 % |                |
        | 10 % read_file       |                |
      When it is run on "Fix the flaky test"
      And it is run on "Now write the docs"
      Then its sessions are "completed, completed"
      And sessions 1 and 2 do not share a window
      And session 2 ends its opening with "Now write the docs"
      And session 2 is told "Fix the flaky test"
      And session 2 is told "My window is 86 % full."

    Scenario: A person who wants a fresh window for each prompt gets one
      Given "claude-code" works in windows of 1000 tokens:
        | its turns      | its checkpoint |
        | 10 % read_file |                |
      And each prompt starts in a fresh window
      When it is run on "Fix the flaky test"
      And it is run on "Now write the docs"
      Then sessions 1 and 2 do not share a window
      And session 2 is told "Fix the flaky test"

  Rule: The task of a run is its prompt, in every window it takes

    Scenario: The window fills during the second prompt
      Given "claude-code" works in windows of 1000 tokens:
        | its turns                            | its checkpoint    |
        | 10 % read_file, rest, 90 % edit_file | Half of the docs. |
        | 10 % read_file                       |                   |
      When it is run on "Fix the flaky test"
      And it is run on "Now write the docs"
      Then its sessions are "completed, handed off, completed"
      And session 3 begins with "Now write the docs"
      And session 3 is told "Half of the docs."
      And session 3 is told "Fix the flaky test"

    Scenario: A chat of five prompts over three windows
      Given "claude-code" works in windows of 1000 tokens:
        | its turns                                        | its checkpoint      |
        | 10 % read_file, rest, 40 %, rest, 90 % edit_file | The parser is done. |
        | 10 % read_file, rest, 90 % run_tests             | The docs are done.  |
        | 10 % read_file, rest, 20 %                       |                     |
      When it is run on "Write a parser"
      And it is run on "Use tabs, not spaces"
      And it is run on "Add error messages"
      And it is run on "Now the docs"
      And it is run on "Publish it"
      Then its sessions are "completed, completed, handed off, completed, handed off, completed, completed"
      And sessions 1 and 3 share a window
      And sessions 4 and 5 share a window
      And sessions 6 and 7 share a window
      And session 6 begins with "Now the docs"
      And session 6 is told these words of the person, in this order:
        | Write a parser       |
        | Use tabs, not spaces |
        | Add error messages   |
      And session 7 is told "Publish it" and nothing else
      And the person said "Write a parser" once
      And replaying the record gives the sessions and handoffs that are stored

  Rule: The key of a thread finds its session again

    Scenario: The same key after restarts, in another process
      Given "claude-code" works in windows of 1000 tokens:
        | its turns                            | its checkpoint |
        | 10 % read_file, 90 % edit_file       | Half is done.  |
        | 10 % read_file, rest, 20 % edit_file |                |
      When it is run on "Fix the flaky test"
      And it is run on "Now write the docs"
      Then its sessions are "handed off, completed, completed"
      And sessions 2 and 3 share a window
