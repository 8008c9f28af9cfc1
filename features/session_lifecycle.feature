Feature: The life of an agent session
  A conversation outlives many context windows. Each window's life is one agent session, and afterwards somebody
  will ask who worked when, from which message to which, and how it ended. So a conversation has at most one session
  at work, sessions and messages are numbered through, and only the process that holds a session can add to it.

  Rule: A session begins, works and ends, and each of these is on record

    Scenario: A new session is at work and knows of no end
      Given a conversation about "Fix the flaky test"
      When "claude-code" starts a session
      Then "claude-code"'s session is active
      And "claude-code"'s session is number 1 in the conversation
      And "claude-code"'s session has no end and no handoff behind it

    Scenario: Sessions and messages are numbered through the conversation
      Given "claude-code" is working on a conversation
      And it has done 2 turns
      When it completes its session
      Then "claude-code"'s session is completed
      And "claude-code"'s session ended with message 4
      And nobody is at work on the conversation
      When "opus" starts a session
      And "opus" does 1 turn
      Then "opus"'s session is number 2 in the conversation
      And "opus"'s session begins with message 5
      And the conversation has the messages 1 to 6 without a gap

    Scenario: A session that cannot continue stores the reason
      Given "claude-code" is working on a conversation
      And it has done 1 turn
      When it gives its session up because "The test machine is gone"
      Then "claude-code"'s session is failed
      And "claude-code"'s session failed because "The test machine is gone"
      And "claude-code"'s session ended with message 2

    Scenario: While one session is paused by hand, another may work
      Given "claude-code" is working on a conversation
      And it has done 1 turn
      And it pauses its session
      And "opus" starts a session
      And "opus" does 1 turn
      And it completes its session
      When "claude-code" resumes its session
      And "claude-code" does 1 turn
      Then "claude-code"'s session is active
      And the messages were recorded by "claude-code, claude-code, opus, opus, claude-code, claude-code"
      And the conversation has the messages 1 to 6 without a gap

  Rule: Only the process that holds a session can write to it

    Scenario: A process that was thought dead comes back too late
      Given "claude-code" is working on a conversation
      And it has done 1 turn
      When a new process takes over "claude-code"'s session
      And "claude-code" does 1 turn
      Then "claude-code"'s session has 2 turns
      When the former process of "claude-code" records a turn
      Then that is refused as "session.superseded"
      And the person is told "has a newer holder"
      And nothing was stored

    Scenario: A process that was thought dead hands off what it last worked on
      Given "claude-code" is working on a conversation
      And it has done 1 turn
      When a new process takes over "claude-code"'s session
      And the former process of "claude-code" hands the conversation to "opus"
      Then that is refused as "session.superseded"
      And nothing was stored
      When "claude-code" hands the conversation to "opus"
      Then the handoff is initiated

    Scenario: Somebody without the token must say that they act by hand
      Given "claude-code" is working on a conversation
      And it has done 1 turn
      When somebody hands the conversation of "claude-code" to "opus" and says nothing of who they are
      Then that is refused as "session.no_token"
      And the person is told "say `byHand: true`"
      And nothing was stored
      When somebody hands the conversation of "claude-code" to "opus" by hand
      Then the handoff is initiated
      And the last entry of the record was done by hand

    Scenario: An old copy of the session is not refused
      Given "claude-code" is working on a conversation
      And it has done 2 turns
      When it records a turn on the copy of the session it was given at the start
      Then "claude-code"'s session has 3 turns
      And the conversation has the messages 1 to 6 without a gap

  Rule: A job has one conversation

    Scenario: Opening a job twice finds the same conversation
      Given the job "JOB-7" is opened to "Fix the flaky test"
      When the job "JOB-7" is opened to "Rewrite everything"
      Then the job "JOB-7" is to "Fix the flaky test"
      And the record reads:
        | conversation opened |
