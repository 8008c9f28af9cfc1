Feature: Thread handoff
  A person opens a new thread and takes along what matters: a short summary that they have approved. It is in the memory
  file of the agent for the first exchange of the new thread, and taken out after it. The history is not copied.

  Background:
    Given an agent has come half way in the thread "first"

  Rule: Nothing is written before a person has approved

    Scenario: A preview writes nothing
      When a summary of the thread "first" is asked for
      Then nothing was written: "first" has one session and no handoff

    Scenario: Accepting opens the thread with its summary
      Given a summary of the thread "first" is shown
      When the person accepts it for the thread "second"
      Then the thread "second" is a child of "first" and waits for its first exchange
      And its handoff from "first" names the last turn, the tool "run_tests" and what was shown
      And nothing of "first" was copied into "second"
      And the rest of the memory file has "Be kind."

    Scenario: Editing keeps the person's text
      Given a summary of the thread "first" is shown
      When the person writes "Only the till matters." instead
      And the person accepts it for the thread "second"
      Then the memory file has "Only the till matters." for "second"
      And the history has the summary "Only the till matters." of "first", by "person"

    Scenario: Rejecting begins a fresh thread
      Given a summary of the thread "first" is shown
      When the person rejects it and begins the thread "second"
      Then the thread "second" is a child of "first", without a summary or a handoff

    Scenario: A draft is refined three times
      Given a model writes the summaries
      And a summary of the thread "first" is shown
      When the person wants "the tests" in it
      And the person wants "the files" in it
      And the person wants "the rest" in it
      Then the draft is the first one, with its time, refined 3 times
      When the person wants "even more" in it
      Then the thread handoff is refused as "thread.refinements_spent"
      And the refusal says "Accept it, edit it yourself, or reject it."

  Rule: What fails is undone, and the first error is told

    Scenario: A script whose summary cannot be made is refused
      Given summaries cannot be made
      When a summary of the thread "first" is asked for
      Then the thread handoff is refused as "thread.not_summarized"
      And the refusal says "the model is away"
      And nothing was written: "first" has one session and no handoff

    Scenario: A person may continue without a handoff
      Given summaries cannot be made
      When a summary of the thread "first" is asked for
      And the person continues "first" without a handoff, in the thread "second"
      Then the thread "second" is a child of "first", without a summary or a handoff

    Scenario: A store that fails takes the summary back
      Given a summary of the thread "first" is shown
      When the store is away for the next command
      And the person accepts it for the thread "second"
      Then the thread handoff is refused as "store.unavailable"
      And there is no thread "second", and the block of "first" is free
      When the person accepts it for the thread "second"
      Then the thread "second" is a child of "first" and waits for its first exchange

    Scenario: Only the mirror may fail
      Given summaries cannot be mirrored
      And a summary of the thread "first" is shown
      When the person accepts it for the thread "second"
      Then the history has no summary of "first", whose thread "second" is open

  Rule: A file has one summary at a time, and the rest of it belongs to people

    Scenario: Two threads at once
      Given a summary of the thread "first" is shown
      And a summary of the thread "first" is shown
      When both are accepted at once, for the threads "second" and "third"
      Then the thread handoff is refused as "memory_block.held"
      And one of "second" and "third" is open, and has the block

    Scenario: An editor saves between the preview and the acceptance
      Given a summary of the thread "first" is shown
      When an editor adds "Never deploy on Fridays." to the memory file
      And the person accepts it for the thread "second"
      Then the rest of the memory file has "Never deploy on Fridays."
      And the thread "second" is a child of "first" and waits for its first exchange

    Scenario: The first thread works on
      Given a summary of the thread "first" is shown
      And the person accepts it for the thread "second"
      When the agent of the first thread says "One more thing."
      Then the thread "second" is a child of "first" and waits for its first exchange

  Rule: The summary is there for the first exchange, and never leaks into another thread

    Scenario: It is taken out after the first exchange
      Given a summary of the thread "first" is shown
      And the person accepts it for the thread "second"
      When an agent has worked in the thread "second"
      Then the agent of "second" was launched with the summary
      And the summary of "second" is out of the memory file
      When the workspace is cleaned up
      And an agent has worked in the thread "third"
      Then the agent of "third" was launched without a summary

    Scenario: A thread is handed off again
      Given a summary of the thread "first" is shown
      And the person accepts it for the thread "second"
      And an agent has worked in the thread "second"
      And a summary of the thread "second" is shown
      When the person accepts it for the thread "third"
      Then the thread "third" is a child of "second" and waits for its first exchange
      And its handoff from "second" names the last turn, the tool "run_tests" and what was shown

    Scenario: A thread that never begins loses its summary
      Given a summary waits for a moment only
      And a summary of the thread "first" is shown
      And the person accepts it for the thread "second"
      And that moment has passed
      When an agent has worked in the thread "third"
      Then the agent of "third" was launched without a summary
      And the summary of "second" is out of the memory file

    Scenario: Nobody starts while a summary that is over cannot be taken out
      Given a summary of the thread "first" is shown
      And the person accepts it for the thread "second"
      And the memory file cannot be written any more
      When an agent has worked in the thread "second"
      Then the summary of "second" is still in the memory file, and over
      When an agent has worked in the thread "third"
      Then the thread handoff is refused as "thread.block_not_reset"
      And the refusal says "the disk is read-only"
      Given the memory file can be written again
      When an agent has worked in the thread "third"
      Then the agent of "third" was launched without a summary

    Scenario: A terminal begins the thread with its first turn
      Given a summary of the thread "first" is shown
      And the person accepts it for the thread "second"
      When the terminal "blue" starts
      Then the thread "second" has not begun
      When its person has said "Continue", and its agent has answered
      Then the terminal "blue" is the first session of the thread "second"
      And the summary of "second" is out of the memory file

    Scenario: Of two terminals, the one that takes the first turn
      Given a summary of the thread "first" is shown
      And the person accepts it for the thread "second"
      When the terminal "blue" starts
      And the terminal "green" starts
      And the person at the terminal "green" has said "Continue", and its agent has answered
      And the person at the terminal "blue" has said "Hello", and its agent has answered
      Then the terminal "green" is the first session of the thread "second"
      And the terminal "blue" has a conversation of its own, in which "Hello" was said
