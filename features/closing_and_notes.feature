Feature: Closed conversations, and notes of the caller
  Work is done for good at some time, and then nobody should take it up by mistake. Until then, and afterwards too, an
  orchestrator wants to find a conversation by its own words: a ticket, a team, a cost centre. And a reader of the
  record wants to know what the holder of a session did, and what was done to it by hand.

  Rule: A closed conversation takes no session until it is reopened

    Scenario: No session starts in a closed conversation
      Given "claude-code" is working on a conversation
      And it has done 1 turn
      And it completes its session
      When the conversation is closed
      Then the conversation is closed on record
      When "opus" starts a session
      Then that is refused as "conversation.closed"
      And nothing was stored

    Scenario: A session may start after reopening
      Given "claude-code" is working on a conversation
      And it completes its session
      And the conversation is closed
      When the conversation is reopened
      And "opus" starts a session
      Then "opus"'s session is active
      And the conversation is open on record

    Scenario: A conversation that is worked on cannot be closed
      Given "claude-code" is working on a conversation
      When the conversation is closed
      Then that is refused as "conversation.session_active"
      And nothing was stored

  Rule: A note is kept beside the work and found by what it contains

    Scenario: A new note replaces the old one
      Given "claude-code" is working on a conversation
      When the conversation is noted with the ticket "T-1"
      And the conversation is noted with the ticket "T-2"
      Then the conversation is found by the ticket "T-2"
      And no conversation is found by the ticket "T-1"
      And "claude-code"'s session is active

  Rule: The record tells what was done by hand

    Scenario: A session that is taken over by hand
      Given "claude-code" is working on a conversation
      And it has done 1 turn
      When a new process takes over "claude-code"'s session
      Then the last entry of the record was done by hand
      When "claude-code" does 1 turn
      Then the last entry of the record was done by its holder
