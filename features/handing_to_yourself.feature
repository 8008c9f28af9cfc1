Feature: Handing to yourself
  An agent in a terminal writes down where the work stands, and the person clears the window or goes home. The document
  waits in the workspace. The next session there begins with it and with what the person said, and its first turn takes
  the work over. Nobody is blocked meanwhile, and no service has to run.

  Background:
    Given the terminal "blue" starts
    And its person has said "Never touch the migrations", and its agent has answered

  Rule: The next session takes the work over with its first turn

    Scenario: After a clear
      Given its agent has left the document "Half is done." for the next session
      When the terminal "blue" is cleared and continues as "green"
      Then the terminal "green" has begun with "Half is done." and "Never touch the migrations"
      And the session of the terminal "blue" is active
      When its person has said "Continue", and its agent has answered
      Then the terminal "green" continues the conversation of the terminal "blue"
      And the session of the terminal "blue" is handed off
      And no document waits

    Scenario: The next morning, after everything was shut down
      Given its agent has left the document "Half is done." for the next session
      And the terminal "blue" ends
      And the service is started again
      When the terminal "green" starts
      And its person has said "Good morning", and its agent has answered
      Then the terminal "green" continues the conversation of the terminal "blue"

    Scenario: A start alone releases nothing
      Given its agent has left the document "Half is done." for the next session
      When the terminal "ghost" starts
      And the terminal "ghost" ends
      And the terminal "green" starts
      Then the terminal "green" has begun with "Half is done." and "Never touch the migrations"
      And the session of the terminal "blue" is active

    Scenario: Of two, the one that takes the first turn
      Given its agent has left the document "Half is done." for the next session
      When the terminal "green" starts
      And the terminal "red" starts
      And its person has said "Red is first", and its agent has answered
      And the person at the terminal "green" has said "Green is second", and its agent has answered
      Then the terminal "red" continues the conversation of the terminal "blue"
      And the terminal "green" has a conversation of its own, in which "Green is second" was said

    Scenario: Resumed later, it still has everything that was said before it
      Given its agent has left the document "Half is done." for the next session
      And the terminal "blue" is cleared and continues as "green"
      And its person has said "Continue", and its agent has answered
      And the terminal "green" ends
      When the terminal "green" is resumed
      And its person has said "No dashes", and its agent has answered
      And the window of the terminal "green" is compacted
      Then the terminal "green" has begun with "Half is done." and "Never touch the migrations"
      And the terminal "green" has begun with "Continue" and "No dashes"

    Scenario: A document that is left after the end
      Given the terminal "blue" ends
      And its person has left the document "Half is done." for the next session
      When the terminal "green" starts
      Then the terminal "green" has begun with "Half is done." and "Never touch the migrations"
      And its person is told that the terminal "green" begins with a document

    Scenario: Another agent takes over as it always did
      Given its agent has asked for a handoff to "reviewer" with the document "Half is done."
      When the terminal "green" starts
      Then the terminal "green" has begun with nothing
      And the session of the terminal "blue" is paused

  Rule: A document that is over leaves nothing open

    Scenario: It is withdrawn
      Given its agent has left the document "Half is done." for the next session
      And the terminal "blue" ends
      When the document is withdrawn
      Then no document waits
      And the session of the terminal "blue" is completed

    Scenario: A second one takes its place
      Given its agent has left the document "Half is done." for the next session
      And its agent has left the document "More is done." for the next session
      When the terminal "green" starts
      Then the terminal "green" has begun with "More is done." and "Never touch the migrations"
