Feature: Asking over MCP
  An agent asks Batonpass about itself, over the protocol that agents speak with tools. It need not say who it is. It is told
  about its own conversation and no other; and what nobody knows, it is not told as zero.

  Rule: An agent is told about its own session

    Scenario: How full its window is
      Given the terminal "blue" starts
      And the terminal "blue" reports a window that is 61 percent full
      When the agent of the terminal "blue" asks how much of its window is left
      Then it is told that 61 percent are used

    Scenario: Before anything was read, nobody knows
      Given the terminal "blue" starts
      When the agent of the terminal "blue" asks how much of its window is left
      Then it is told that nobody knows how full the window of the terminal "blue" is

    Scenario: After a clear the same process has another session
      Given the terminal "blue" starts
      And the terminal "blue" is cleared and continues as "green"
      When the agent of the terminal "green" asks how much of its window is left
      Then it is told that nobody knows how full the window of the terminal "green" is

  Rule: An agent finds what earlier windows of its conversation said

    Scenario: It looks back, and its question is on record
      Given the terminal "blue" starts
      And its agent has answered "The quokka is in the dunes." with 20000 tokens sent
      And its agent stops
      And the terminal "blue" ends
      And the terminal "blue" is resumed
      When the agent of the terminal "blue" looks back for "dunes"
      Then it is told "The quokka is in the dunes."
      And the question of the terminal "blue" is on record

  Rule: Other conversations are as if they were not there

    Scenario: It names a session of another conversation
      Given the terminal "red" starts
      And the terminal "blue" starts
      When the agent of the terminal "blue" asks for the lineage of the terminal "red"
      Then it is refused as if the terminal "red" had never been
