Feature: Terminal sessions
  A person works with an agent in a terminal, and the agent's hooks report. Batonpass knows the session by its runtime's
  own name, knows how full its window is, and says so once: to the agent at its next safe point, and to the session that
  started it where there is one. What the agent did is on record as turns, however often it is reported.

  Rule: A session is known by the name its runtime gives it

    Scenario: Its start registers it, and it is found again
      When the terminal "blue" starts
      And the service is started again
      And the terminal "blue" starts
      Then the terminal "blue" has 1 session, the last of which is active

    Scenario: Nothing is made of a session that nobody knows
      Given the terminal "blue" starts
      When the terminal "red" reports a window that is 90 percent full
      Then only the terminal "blue" is on record
      And the terminal "red" is told that nobody knows it

    Scenario: A session that is resumed after its end is the next of its conversation
      Given the terminal "blue" starts
      And the terminal "blue" ends
      When the terminal "blue" is resumed
      Then the terminal "blue" has 2 sessions, the last of which is active

    Scenario: A clear begins another conversation, under the new name
      Given the terminal "blue" starts
      When the terminal "blue" is cleared and continues as "green"
      Then the terminal "blue" has 1 session, the last of which is completed
      And the terminal "green" has 1 session, the last of which is active

    Scenario: A session that waits for another agent does not end with its terminal
      Given the terminal "blue" starts
      And its agent has answered "Half done." with 150000 tokens sent
      And its agent has asked for a handoff to "reviewer" with the document "Half is done."
      When the terminal "blue" is cleared and continues as "green"
      Then the terminal "blue" has 1 session, the last of which is paused

  Rule: A warning is said once

    Scenario: It waits for the next safe point, and is not said again
      Given the terminal "blue" starts
      When the terminal "blue" reports a window that is 55 percent full
      And the terminal "blue" reports a window that is 58 percent full
      Then "warning" waits for the agent of the terminal "blue"
      When its person asks something, and its agent is told all that waits
      And the terminal "blue" reports a window that is 60 percent full
      Then nothing waits for the agent of the terminal "blue"
      And the agent of the terminal "blue" was told of "warning"

    Scenario: The session that started it is told as well
      Given the terminal "blue" starts
      And the terminal "blue" has started the terminal "red"
      When the terminal "red" reports a window that is 70 percent full
      Then "critical" waits for the agent of the terminal "blue"
      And "critical" waits for the agent of the terminal "red"

  Rule: A compaction begins a new cycle

    Scenario: It is recorded once, though several hooks and the transcript tell of it
      Given the terminal "blue" starts
      And its agent has answered "I look." with 150000 tokens sent
      When the window of the terminal "blue" is compacted
      Then the window of the terminal "blue" was truncated once
      And the agent of the terminal "blue" is in cycle 2

    Scenario: What was not said before it is withdrawn
      Given the terminal "blue" starts
      And the terminal "blue" reports a window that is 70 percent full
      When the window of the terminal "blue" is compacted
      Then "critical" was withdrawn from the agent of the terminal "blue"

  Rule: What the agent did is on record

    Scenario: Its transcript is recorded once, no matter how many read it and how often
      Given the terminal "blue" starts
      And its agent has answered "I look." with 20000 tokens sent
      When its agent stops
      And the service is started again
      And its agent stops
      Then the agent of the terminal "blue" has said "I look."

  Rule: A secret is not on record

    Scenario: A key that was printed is not in the record
      Given the terminal "blue" starts
      And its agent has answered "The key is AKIAABCDEFGH23456789, and it works." with 1000 tokens sent
      When the agent in the terminal "blue" becomes idle
      Then the words of the terminal "blue" are on record with "The key is [hidden:key], and it works." and without "AKIAABCDEFGH23456789"
