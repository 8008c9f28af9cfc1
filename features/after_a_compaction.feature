Feature: After a compaction
  A runtime makes room in a window by putting a summary in the place of what was said. Rules, corrections and limits that
  the person gave are often not in it. With Batonpass the person's own words come back, word for word, from the record,
  and with them the last document of the conversation.

  Background:
    Given the terminal "blue" starts

  Scenario: A rule that the person gave before a compaction is in front of the agent after it
    Given its person has said "Never touch the migrations", and its agent has answered
    And its person has said "No, in British English", and its agent has answered
    When the window of the terminal "blue" is compacted
    Then the terminal "blue" has begun with "Never touch the migrations" and "No, in British English"
    And the window of the terminal "blue" was truncated once
    And its person was told "2 of your messages were given back."

  Scenario: The document that waits for the next session comes back as well, and still waits
    Given its person has said "Never touch the migrations", and its agent has answered
    And its agent has left the document "Half is done." for the next session
    When the window of the terminal "blue" is compacted
    Then the terminal "blue" has begun with "Half is done." and "Never touch the migrations"
    And the document "Half is done." waits
    And its person was told "1 of your messages and the handoff document were given back."

  Scenario: Nothing was said, and nothing comes back
    When the window of the terminal "blue" is compacted
    Then the terminal "blue" has begun with nothing

  Scenario: A session that is resumed still has its window, and is told nothing twice
    Given its person has said "Never touch the migrations", and its agent has answered
    When the terminal "blue" is resumed
    Then the terminal "blue" has begun with nothing

  Scenario: A compaction that comes early shows that less of the window can be used
    Given the terminal "blue" reports a window that is 75 percent full
    When the window of the terminal "blue" is compacted at 135000 tokens
    And its agent has answered "Half is done." with 125000 tokens sent
    And its agent stops
    And the agent of the terminal "blue" asks how much of its window is left
    Then it is told that 92 percent are used
